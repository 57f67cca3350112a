import { Second } from '../../shared/units.ts';
import { BoundedMap } from './bounded-map.ts';

export interface BucketSize {
  /** The most tokens at once. */
  readonly burst: number;
  /** The refill rate (tokens per second). */
  readonly perSecond: number;
}

/** The most senders, about 2 MB. Beyond that, the least recent one is dropped and starts with a full bucket again. */
const MAX_BUCKETS = 10_000;

/**
 * Creates a token bucket per sender, for a limited number of senders. The usual packages keep an entry and a
 * timer for each sender, so a flood from many addresses leaks memory.
 */
export function createTokenBuckets({ burst, perSecond }: BucketSize, maxBuckets = MAX_BUCKETS) {
  const buckets = new BoundedMap<{ readonly tokens: number; readonly at: number }>(maxBuckets);

  function count(key: string): number {
    const { tokens, at } = buckets.get(key) ?? { tokens: burst, at: 0 };
    return Math.min(burst, tokens + ((performance.now() - at) / Second) * perSecond);
  }

  const toWait = (tokens: number) => (tokens < 1 ? Math.ceil(((1 - tokens) / perSecond) * Second) : 0);

  return {
    /** Takes a token of a sender. @returns 0, or the milliseconds until there is one */
    take(key: string): number {
      const tokens = count(key);
      const wait = toWait(tokens);
      buckets.set(key, { tokens: wait === 0 ? tokens - 1 : tokens, at: performance.now() });
      return wait;
    },
    /** Takes tokens that may not be there yet: their sender then waits for them too. */
    charge(key: string, tokens: number): void {
      buckets.set(key, { tokens: Math.max(-burst, count(key) - tokens), at: performance.now() });
    },
    /** Returns the same without taking it. */
    peek: (key: string) => toWait(count(key)),
  };
}
