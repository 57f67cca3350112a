import { Day, Minute, Second } from '../../shared/units.ts';

/** How long a 429 without a duration applies (ms), as in Sentry's SDKs. */
const DEFAULT_LIMIT = 1 * Minute;
/** The longest limit (ms). */
const MAX_LIMIT = 1 * Day;
/** The most entries of a header that are read (a count). */
const MAX_ENTRIES = 100;

/** A limit in a response. */
export interface RateLimit {
  /** `error`, `transaction`, `replay`; empty for all categories. */
  readonly category: string;
  /** Milliseconds from now. */
  readonly forMs: number;
}

/** The limits that the upstream has set, by category. */
export interface RateLimits {
  take(limits: readonly RateLimit[]): void;
  /**
   * Returns the milliseconds until this category can be sent again, or 0. Does not include limits for all categories.
   */
  remaining(category: string): number;
  /** Returns the value of `X-Sentry-Rate-Limits` for our clients; undefined if nothing is limited. */
  header(): string | undefined;
}

export function createRateLimits(now: () => number = () => performance.now()): RateLimits {
  const until = new Map<string, number>();
  const remaining = (category: string) => Math.max(0, (until.get(category) ?? 0) - now());

  return {
    take(limits) {
      for (const { category, forMs } of limits) {
        until.set(category, Math.max(until.get(category) ?? 0, now() + forMs));
      }
    },
    remaining,
    header() {
      const active = [...until.keys()].filter((category) => remaining(category) > 0);
      if (active.length === 0) return undefined;
      return active.map((category) => `${Math.ceil(remaining(category) / Second)}:${category}:organization`).join(', ');
    },
  };
}

/**
 * Reads the limits in Sentry's response: `X-Sentry-Rate-Limits: 60:error;default:organization:quota, 30::key` with any
 * status. With 429 and without that header, `Retry-After` applies to all categories.
 */
export function readRateLimits(
  status: number,
  headers: { readonly rateLimits?: string | undefined; readonly retryAfter?: string | undefined },
): RateLimit[] {
  const limits = (headers.rateLimits ?? '').split(',', MAX_ENTRIES).flatMap(parseEntry);
  if (limits.length > 0 || status !== 429) return limits;
  return [{ category: '', forMs: parseRetryAfter(headers.retryAfter) }];
}

function parseEntry(entry: string): RateLimit[] {
  const [seconds = '', categories = ''] = entry.trim().split(':');
  if (!/^\d{1,9}(?:\.\d{1,9})?$/.test(seconds)) return [];
  const forMs = Math.min(Number(seconds) * Second, MAX_LIMIT);
  return categories
    .split(';', MAX_ENTRIES)
    .map((category) => category.trim())
    .filter((category) => /^\w{0,50}$/.test(category))
    .map((category) => ({ category, forMs }));
}

/** Parses seconds or a date (RFC 9110, section 10.2.3). */
function parseRetryAfter(text = ''): number {
  if (/^\d{1,9}(?:\.\d{1,9})?$/.test(text.trim())) return Math.min(Number(text) * Second, MAX_LIMIT);
  const date = Date.parse(text) - Date.now();
  return Number.isNaN(date) ? DEFAULT_LIMIT : Math.min(Math.max(date, 0), MAX_LIMIT);
}
