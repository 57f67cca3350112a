import { Second } from '../../../../shared/units.ts';

export interface BucketSize {
  /** What may come at once (a count). */
  readonly burst: number;
  /** What may come in the long run (a count a second). */
  readonly perSecond: number;
}

export interface TokenBuckets {
  /**
   * Takes tokens of this sender, one by default.
   *
   * @returns 0, or the milliseconds until there are enough
   */
  take(key: string, count?: number): number;
  /** What `take()` would answer for one token, without taking it. */
  peek(key: string): number;
  readonly size: number;
}

interface Bucket {
  tokens: number;
  /** Milliseconds. */
  filledAt: number;
}

/** Senders that are remembered at once (a count): about 2 MB. Who was silent longest is forgotten, and starts with a full bucket. */
const MAX_BUCKETS = 10_000;

/**
 * A bucket for each sender. The usual packages keep an entry and a timer for whoever ever came, so
 * that a flood from many addresses is a leak; here the number of senders is bounded.
 *
 * @param now milliseconds, never going back
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
    buckets.delete(key); // a map keeps the order of insertion: the oldest stands first
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
