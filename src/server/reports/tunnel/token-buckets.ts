import { Second } from '../../../shared/units.ts';

export interface BucketSize {
  /** The most tokens at once. */
  readonly burst: number;
  /** The refill rate (tokens per second). */
  readonly perSecond: number;
}

export interface TokenBuckets {
  /**
   * Takes tokens of a sender, one by default.
   *
   * @returns 0, or the milliseconds until there are enough
   */
  take(key: string, count?: number): number;
  /** Returns the result of `take()` for one token, without taking it. */
  peek(key: string): number;
  readonly size: number;
}

interface Bucket {
  tokens: number;
  /** Milliseconds. */
  filledAt: number;
}

/** The most senders, about 2 MB. Beyond that, the least recent one is dropped and starts with a full bucket again. */
const MAX_BUCKETS = 10_000;

/**
 * Creates a token bucket per sender, for a limited number of senders. The usual packages keep an entry and a
 * timer for each sender, so a flood from many addresses leaks memory.
 *
 * @param now milliseconds, monotonic
 */
export function createTokenBuckets(
  { burst, perSecond }: BucketSize,
  { now = () => performance.now(), maxBuckets = MAX_BUCKETS } = {},
): TokenBuckets {
  const buckets = new Map<string, Bucket>();

  function refill(key: string): Bucket {
    const at = now();
    const bucket = buckets.get(key) ?? { tokens: burst, filledAt: at };
    bucket.tokens = Math.min(burst, bucket.tokens + ((at - bucket.filledAt) / Second) * perSecond);
    bucket.filledAt = at;
    buckets.delete(key); // a map keeps the order of insertion, so the oldest is first
    buckets.set(key, bucket);
    return bucket;
  }

  function toWait({ tokens }: Bucket, count: number): number {
    return tokens < count ? Math.ceil(((count - tokens) / perSecond) * Second) : 0;
  }

  return {
    take(key, count = 1) {
      const bucket = refill(key);
      if (buckets.size > maxBuckets) buckets.delete(buckets.keys().next().value ?? key);
      const wait = toWait(bucket, count);
      if (wait === 0) bucket.tokens -= count;
      return wait;
    },
    peek: (key) => (buckets.has(key) ? toWait(refill(key), 1) : 0),
    get size() {
      return buckets.size;
    },
  };
}
