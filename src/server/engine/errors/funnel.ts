import { join } from 'node:path';
import type { Logger } from 'pino';
import { isOutcome, type Outcome } from '../../../shared/engine/outcome.ts';
import type { PageError } from '../../../shared/engine/payload.ts';
import { createDigest } from './digest/create-digest.ts';
import { causesOf, read, readError, readErrors } from './digest/read-error.ts';
import { emptySiteTable, type SiteTable } from './digest/site-table.ts';
import { toPublicError } from './http-error.ts';
import { createOccurrence } from './occurrence.ts';
import { isVisitorGone } from './visitor-gone.ts';

/** Where a failure happened: what the log line and the incident tell. */
export interface FailureContext {
  readonly origin: 'loader' | 'action' | 'guard' | 'render' | 'late' | 'api' | 'step' | 'request' | 'process';
  readonly routeId?: string;
  /** The route's pattern (`/orders/:id`), never the URL. */
  readonly route?: string;
  readonly method?: string;
  readonly url?: string;
  readonly requestId?: string;
  /** What the request's work was ended with: an `AbortError` after `VisitorGone` is no failure. */
  readonly endedBy?: unknown;
  /** React's, of a failed render: the components around it, innermost first. */
  readonly componentStack?: string;
}

/** What the funnel made of something thrown. */
export type Verdict =
  | { readonly kind: 'visitor-gone' }
  | { readonly kind: 'redirect'; readonly status: number; readonly location: string }
  | { readonly kind: 'error'; readonly error: PageError };

export interface Funnel {
  /** Never throws, whatever was thrown, and may be asked about one error any number of times: it is recorded once. */
  fail(error: unknown, context: FailureContext): Verdict;
}

export interface FunnelOptions {
  readonly log: Logger;
  /** The same on all replicas and releases; keeps strangers from confirming a guess. */
  readonly namespace?: string;
  /** The project's folder. */
  readonly root?: string;
  /** Of the build that runs (`dist/sites.json`). Without one, source files that run as they are have digests of their own, and bundles none. */
  readonly table?: SiteTable;
  /** Names the build in the log line. */
  readonly build: string;
  /** Told of each failure once, with its address. */
  readonly onFailure?: (address: string, error: unknown, context: FailureContext) => void;
}

/** A constant by default, so that replicas and fresh disks agree. */
export const DEFAULT_NAMESPACE = 'spillway';

/**
 * The one place that decides what the outside may see of something thrown. A failure is stamped with
 * its address (`7K3QM2XA-9F4W0R6B`), written to the log, and all that leaves is the address.
 */
export function createFunnel(options: FunnelOptions): Funnel {
  const { namespace = DEFAULT_NAMESPACE, root = process.cwd(), table = emptySiteTable } = options;
  const paths = { dist: join(root, 'dist') };
  const addresses = new WeakMap<WeakKey, string>();

  function toAddress(error: unknown, context: FailureContext): string {
    const chain = causesOf(error).filter(isWeakKey);
    let address = chain.map((link) => addresses.get(link)).find((known) => known !== undefined);
    if (address === undefined) {
      address = record(error, context);
    }
    for (const link of chain) addresses.set(link, address);
    return address;
  }

  function record(error: unknown, context: FailureContext): string {
    const facts = readError(error);
    const { digest } = createDigest(
      { side: 'server', errors: readErrors(error, paths), route: context.route ?? context.routeId ?? '' },
      { namespace, table },
    );
    const occurrence = createOccurrence();
    const causes = causesOf(error)
      .slice(1)
      .map((cause) => readError(cause).stack);
    writeLine(options.log, {
      digest,
      occurrence,
      build: options.build,
      origin: context.origin,
      routeId: context.routeId,
      route: context.route,
      method: context.method,
      url: context.url === undefined ? undefined : withoutSearch(context.url),
      requestId: context.requestId,
      stack: facts.stack,
      componentStack: context.componentStack,
      causes: causes.length > 0 ? causes : undefined,
    });
    const address = `${digest}-${occurrence}`;
    options.onFailure?.(address, error, context);
    return address;
  }

  return {
    fail(error, context) {
      if (causesOf(error).some((link) => isVisitorGone(link, context.endedBy)) || isAbortedUpload(error)) {
        return { kind: 'visitor-gone' };
      }
      const verdict = isOutcome(error) ? fromOutcome(error) : undefined;
      if (verdict) return verdict;
      const known = toPublicError(error);
      if (known) return { kind: 'error', error: known };
      return { kind: 'error', error: { kind: 'failure', status: 500, digest: toAddress(error, context) } };
    },
  };
}

/** Undefined for an imitation whose fields cannot be read or used. */
function fromOutcome(outcome: Outcome): Verdict | undefined {
  try {
    const { kind, status, location, message } = outcome;
    if (!Number.isInteger(status) || status < 300 || status > 599) return undefined;
    if (kind === 'redirect') return { kind, status, location };
    return { kind: 'error', error: kind === 'public' ? { kind, status, message } : { kind, status } };
  } catch {
    return undefined;
  }
}

/** What body parsers throw when the visitor leaves in the middle of an upload. */
function isAbortedUpload(error: unknown): boolean {
  return read(error, 'type') === 'request.aborted';
}

function isWeakKey(value: unknown): value is WeakKey {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

function withoutSearch(url: string): string {
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}

/** A log that fails must not turn one failure into another one. */
function writeLine(log: Logger, line: Record<string, unknown>): void {
  try {
    log.error(line, 'A request failed.');
  } catch (cause) {
    process.stderr.write(`The log could not be written (${readError(cause).message}): ${JSON.stringify(line)}\n`);
  }
}
