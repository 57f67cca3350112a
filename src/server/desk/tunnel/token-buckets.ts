import { isIPv4, isIPv6 } from 'node:net';
import { Second } from '../../../shared/units.ts';

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

/** Whose bucket it is: an IPv4 address, or the /64 that one household or machine has of IPv6. */
export function toSender(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
  if (isIPv4(mapped) || !isIPv6(mapped)) return mapped;
  return expandIPv6(mapped).slice(0, 4).join(':');
}

/** The eight groups of an address, without leading zeros. */
export function expandIPv6(address: string): string[] {
  const [head = '', tail] = address.toLowerCase().replace(/%.*$/, '').split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  return [...left, ...new Array<string>(gap).fill('0'), ...right].map((group) => group.replace(/^0+(?=.)/, ''));
}
