import { Millisecond, Second } from '../units.ts';
import { DIGEST_HEADER, RETRY_HEADER } from './wire/protocol.ts';

export interface RetryOptions {
  /** How often the request may be made (a count, the first try included). */
  readonly attempts: number;
  /** By when the headers of the last answer must be there (ms); without it nothing but `signal` ends the wait. */
  readonly deadlineMs?: number;
  /** Ends the request, the waiting between attempts, and the body of the answer. */
  readonly signal?: AbortSignal;
  /** Whether an answer stands, though its status is 500 or more. */
  readonly isFinal?: (response: Response) => boolean;
  /** At least 0 and less than 1. */
  readonly random?: () => number;
}

/** The first wait is half of this up to all of it (ms); each further one twice as long. */
const FIRST_BACKOFF = 200 * Millisecond;
const LONGEST_BACKOFF = 5 * Second;

/**
 * `fetch`, made again where the server failed: only for GET and HEAD, and only on a status of 500 or
 * more. A request that got no answer at all is not made again.
 *
 * The next attempt names the failure of the one before, where the answer had an address.
 *
 * Waits at least as long as `Retry-After` says. Where that would pass the deadline, or no attempt is
 * left, the failed response itself is the answer. The body is not under the deadline.
 *
 * @throws what `signal` was aborted with; a `TimeoutError` when the deadline passes; what `fetch` throws
 */
export async function fetchWithRetry(
  fetch: typeof globalThis.fetch,
  input: string | URL | Request,
  init: RequestInit | undefined,
  options: RetryOptions,
): Promise<Response> {
  const attempts = isRepeatable(input, init) ? options.attempts : 1;
  const deadlineAt = options.deadlineMs === undefined ? Number.POSITIVE_INFINITY : Date.now() + options.deadlineMs;
  const deadline = createDeadline(options.deadlineMs);
  const signals = [options.signal, init?.signal, input instanceof Request ? input.signal : undefined, deadline.signal];
  const signal = AbortSignal.any(signals.filter((one) => one instanceof AbortSignal));
  try {
    let address: string | null = null;
    for (let attempt = 1; ; attempt++) {
      signal.throwIfAborted();
      const response: Response = await fetch(input, {
        ...(address === null ? init : withAddress(input, init, address)),
        signal,
      });
      if (response.status < 500 || attempt >= attempts || options.isFinal?.(response)) return response;
      const waitMs = Math.max(
        toBackoffMs(attempt, options.random),
        toRetryAfterMs(response.headers.get('Retry-After')),
      );
      if (Date.now() + waitMs >= deadlineAt) return response;
      address = response.headers.get(DIGEST_HEADER) ?? address;
      response.body?.cancel().catch(() => {}); // an unread body keeps its connection
      await wait(waitMs, signal);
    }
  } finally {
    deadline.clear();
  }
}

/** How long to wait after this attempt (ms), with jitter, so that browsers do not return in step. */
export function toBackoffMs(attempt: number, random: () => number = Math.random): number {
  const longest = Math.min(FIRST_BACKOFF * 2 ** (attempt - 1), LONGEST_BACKOFF);
  return longest / 2 + (longest / 2) * random();
}

/** Reads seconds or a date (RFC 9110, section 10.2.3); 0 for what is neither or is past. */
export function toRetryAfterMs(header: string | null): number {
  const text = header?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * Second;
  // `Date.parse` also takes what is no HTTP date, such as "-1".
  const at = /^[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? 0 : Math.max(0, at - Date.now());
}

function withAddress(input: string | URL | Request, init: RequestInit | undefined, address: string): RequestInit {
  const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
  headers.set(RETRY_HEADER, address);
  return { ...init, headers };
}

function isRepeatable(input: string | URL | Request, init: RequestInit | undefined): boolean {
  const method = init?.method ?? (input instanceof Request ? input.method : 'GET');
  return /^(get|head)$/i.test(method);
}

/** Unlike `AbortSignal.timeout`, it can be cleared, so that it does not cut the body. */
function createDeadline(deadlineMs: number | undefined) {
  const controller = new AbortController();
  const expire = () => controller.abort(new DOMException('The deadline of the request passed.', 'TimeoutError'));
  const timer = deadlineMs === undefined ? undefined : setTimeout(expire, deadlineMs);
  return { signal: controller.signal, clear: () => clearTimeout(timer) };
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
