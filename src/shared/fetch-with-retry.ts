import { Millisecond, Second } from './units.ts';
import { DIGEST_HEADER, RETRY_HEADER } from './wire/protocol.ts';

export interface RetryOptions {
  /** Number of attempts, including the first. */
  readonly attempts: number;
  /** Time in which the headers of the last response must arrive (ms). Without it, only `signal` ends the wait. */
  readonly deadlineMs?: number | undefined;
  /** Ends the request, the wait between attempts, and the body of the response. */
  readonly signal?: AbortSignal | undefined;
}

/** Longest first wait (ms), doubled for each further one. The shortest is half of it. */
const FIRST_BACKOFF = 200 * Millisecond;
const LONGEST_BACKOFF = 5 * Second;

/** True for the request of `fetch(input, init)` if it can be repeated: GET and HEAD. */
export function isReadRequest(input: string | URL | Request, init: RequestInit | undefined): boolean {
  return /^(get|head)$/i.test(init?.method ?? (input as Partial<Request>).method ?? 'GET');
}

/**
 * `fetch`, repeated when the server fails: only for GET and HEAD, and only on a status of 500 or more.
 * A request that got no response is not repeated.
 *
 * Each repetition names the failure of the attempt before, if its response had an address.
 *
 * Waits at least as long as `Retry-After` says. Returns the failed response if that would pass the
 * deadline or no attempt is left. The body is not under the deadline.
 *
 * @throws what `signal` was aborted with; a `TimeoutError` when the deadline passes; what `fetch` throws
 */
export async function fetchWithRetry(
  input: string | URL | Request,
  init: RequestInit | undefined,
  options: RetryOptions,
): Promise<Response> {
  const { deadlineMs } = options;
  const given = input instanceof Request ? input : undefined;
  const attempts = isReadRequest(input, init) ? options.attempts : 1;
  const deadlineAt = Date.now() + (deadlineMs ?? Number.POSITIVE_INFINITY);
  // Unlike `AbortSignal.timeout`, it can be cleared, so that it does not cut the body.
  const deadline = new AbortController();
  const expire = () => deadline.abort(new DOMException('The deadline of the request passed.', 'TimeoutError'));
  const timer = deadlineMs === undefined ? undefined : setTimeout(expire, deadlineMs);
  const signals = [options.signal, init?.signal, given?.signal, deadline.signal];
  const signal = AbortSignal.any(signals.filter((one) => one instanceof AbortSignal));
  try {
    let repeated: RequestInit | undefined;
    for (let attempt = 1; ; attempt++) {
      signal.throwIfAborted();
      const response: Response = await fetch(input, { ...init, ...repeated, signal });
      if (response.status < 500 || attempt >= attempts) return response;
      const waitMs = Math.max(toBackoffMs(attempt), toRetryAfterMs(response.headers.get('Retry-After')));
      if (Date.now() + waitMs >= deadlineAt) return response;
      const address = response.headers.get(DIGEST_HEADER);
      if (address !== null) {
        const headers = new Headers(init?.headers ?? given?.headers);
        headers.set(RETRY_HEADER, address);
        repeated = { headers };
      }
      response.body?.cancel().catch(() => {}); // an unread body keeps its connection
      await wait(waitMs, signal);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the wait after this attempt (ms), with jitter, so that browsers do not retry in step. */
function toBackoffMs(attempt: number): number {
  const longest = Math.min(FIRST_BACKOFF * 2 ** (attempt - 1), LONGEST_BACKOFF);
  return longest / 2 + (longest / 2) * Math.random();
}

/** Reads seconds or a date (RFC 9110, section 10.2.3). Returns 0 for anything else, and for a past date. */
export function toRetryAfterMs(header: string | null): number {
  const text = header?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * Second;
  // `Date.parse` also reads texts that are not HTTP dates, such as "-1".
  const at = /^[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? 0 : Math.max(0, at - Date.now());
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    signal.addEventListener('abort', stop, { once: true });
  });
}
