import { PAGE_DATA_ATTEMPTS } from '../../shared/limits.ts';
import { fetchWithRetry } from '../../shared/retry.ts';
import { Second } from '../../shared/units.ts';
import type { RequestInfo, Trace } from '../request/request-info.ts';
import { mergeBaggage, type TraceHeaders } from '../request/trace-headers.ts';

interface ContextFetchOptions {
  /** A function, because most pages make no call and need no signal. */
  readonly signal: () => AbortSignal;
  /** Undefined for a static page, which belongs to no request. */
  readonly trace: () => Trace | undefined;
  /** Origins that get trace headers. */
  readonly traceTargets: readonly string[];
  readonly traceHeaders: (trace: Trace) => TraceHeaders;
  /** The request that gets a breadcrumb for each call. */
  readonly info?: RequestInfo;
}

/** All attempts of one call together (ms). */
const FETCH_DEADLINE = 8 * Second;

/**
 * The `fetch` of loaders: up to three attempts on a status of 500 or more, with one deadline for all of them. It
 * stops when the visitor leaves. Trace headers go only to the listed origins.
 */
export function createContextFetch(options: ContextFetchOptions): typeof fetch {
  return async function contextFetch(input, init) {
    const startedAt = performance.now();
    const caller = { stack: '' };
    Error.captureStackTrace(caller, contextFetch);
    const method = (init?.method ?? (input instanceof Request ? input.method : 'GET')).toUpperCase();
    const url = input instanceof Request ? input.url : String(input);
    const spans = options.info?.spans;
    const send = (trace?: Trace) =>
      fetchWithRetry(input, isTraced(url, options) ? withTrace(input, init, options, trace) : init, {
        attempts: PAGE_DATA_ATTEMPTS,
        deadlineMs: FETCH_DEADLINE,
        signal: options.signal(),
      });
    try {
      const response = await (spans ? spans.fetch(method, url, send) : send());
      leaveMark(options.info, `${method} ${url}`, startedAt, response.status);
      return response;
    } catch (error) {
      leaveMark(options.info, `${method} ${url}`, startedAt);
      addCaller(error, caller.stack);
      throw error;
    }
  };
}

/** Adds the caller to the stack of a network error, which has no frame of the app. */
function addCaller(error: unknown, stack: string): void {
  if (!(error instanceof Error) || /\n {1,8}at /.test(error.stack ?? '')) return;
  error.stack = `${error.stack}${stack.slice(stack.indexOf('\n'))}`;
}

/** Adds a breadcrumb such as `GET https://api.example.com/orders`. It leaves out the query, which can have secrets. */
function leaveMark(info: RequestInfo | undefined, target: string, startedAt: number, status?: number): void {
  if (!info) return;
  const ms = Math.round(performance.now() - startedAt);
  info.addBreadcrumb({
    at: Date.now(),
    category: 'fetch',
    message: target.replace(/[?#].*$/s, ''),
    level: status === undefined || status >= 500 ? 'error' : 'info',
    data: { ms, ...(status === undefined ? {} : { status }) },
  });
}

function isTraced(url: string, { traceTargets }: ContextFetchOptions): boolean {
  return traceTargets.length > 0 && URL.canParse(url) && traceTargets.includes(new URL(url).origin);
}

function withTrace(
  input: string | URL | Request,
  init: RequestInit | undefined,
  options: ContextFetchOptions,
  trace = options.trace(),
): RequestInit | undefined {
  if (!trace) return init;
  const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
  const made = options.traceHeaders(trace);
  headers.set('traceparent', made.traceparent);
  headers.set('sentry-trace', made['sentry-trace']);
  headers.set('baggage', mergeBaggage(headers.get('baggage'), made.baggage));
  return { ...init, headers };
}
