import type { EarlyErrors, ReportOptions } from './browser-report.ts';

/** Set by the server, which has the reports of components that it renders. */
export const server: { report?: (error: unknown, options: ReportOptions) => void } = {};

/**
 * Reports an error that your code handled, so that it gets a digest and an incident. The visitor sees no error page. It
 * works in browsers and on the server. Redirects, 404s and other control-flow responses are not reported.
 */
export function report(error: unknown, options: ReportOptions = {}): void {
  const { spillwayEarly } = globalThis as { readonly spillwayEarly?: EarlyErrors };
  if (server.report) server.report(error, options);
  else if (spillwayEarly)
    spillwayEarly.take({
      at: Date.now(),
      event: { type: 'report', target: globalThis as never as Window, reason: error },
      details: options,
    });
  else console.error(error);
}
