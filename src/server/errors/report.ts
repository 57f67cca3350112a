import { server } from '../../shared/reporting/report.ts';
import { captureCall } from '../request/definition.ts';
import { type Breadcrumb, currentRequest } from '../request/request-info.ts';
import type { ServerReportOptions } from './create-failure.ts';
import type { Failure } from './failure.ts';
import type { Funnel } from './funnel.ts';

/** One for the process, because timers and jobs report too, and nothing passes anything to them. */
let funnel: Funnel | undefined;

/** Sends the reports of the process to this funnel. */
export function reportTo(chosen: Funnel): void {
  funnel = chosen;
  server.report = report;
}

/**
 * Reports an error that your code handled: in loaders, actions, API handlers, steps, services, jobs and timers. It gets a
 * digest and an incident, and the visitor sees no error page. Control-flow responses are not reported.
 *
 * @returns its address, `7K3QM2XA-9F4W0R6B`, or undefined if it is not a failure. While services open, failures are
 *   only logged
 */
export function report(error: unknown, options: ServerReportOptions = {}): string | undefined {
  if (!funnel) {
    console.error(error);
    return undefined;
  }
  const disposition = funnel.fail(error, {
    origin: currentRequest() ? 'report' : 'service',
    reported: options,
    definition: { call: captureCall(report) },
  });
  return disposition.kind === 'error' ? disposition.error.digest : undefined;
}

/** Adds tags to everything that fails in this request from now on. Outside a request it does nothing. */
export function setTags(tags: NonNullable<Failure['tags']>): void {
  const info = currentRequest();
  if (info) info.tags = { ...info.tags, ...tags };
}

/**
 * Adds a breadcrumb to the request that the running code works for, so that an incident shows what led to it. Outside
 * a request it does nothing.
 *
 * @param data few and short values: each is cut at 250 characters, and scrubbed of anything that looks like a secret
 */
export function addBreadcrumb(
  category: string,
  message: string,
  { level, data }: Pick<Breadcrumb, 'level' | 'data'> = {},
): void {
  currentRequest()?.addBreadcrumb({
    category: String(category),
    message: String(message),
    level,
    data,
  });
}
