import { LIVE_POLL_INTERVAL } from '../limits.ts';

export interface ChangeWatch {
  /** Told after each look that found more. The returned function ends it. */
  listen(listener: () => void): () => void;
}

export interface ChangeWatchOptions {
  /** The number that grows with each change, over all replicas. */
  readonly read: () => Promise<number>;
  /** Milliseconds. */
  readonly interval?: number;
}

/**
 * Looks for all who listen whether something changed in the store, by whichever replica, and not at
 * all while nobody listens. However much changes, listeners hear of it once an interval.
 */
export function createChangeWatch({ read, interval = LIVE_POLL_INTERVAL }: ChangeWatchOptions): ChangeWatch {
  const listeners = new Set<() => void>();
  let known: number | undefined;
  let isLooking = false;

  function lookAfter(ms: number): void {
    isLooking = true;
    setTimeout(() => void look(), ms).unref();
  }

  async function look(): Promise<void> {
    // A store that is away has nothing new; what was journaled meanwhile is, once it is back.
    const found = await read().catch(() => known);
    if (listeners.size === 0) {
      isLooking = false;
      known = undefined;
      return;
    }
    const isNew = known !== undefined && found !== known;
    known = found;
    lookAfter(interval);
    if (isNew) for (const listener of [...listeners]) listener();
  }

  return {
    listen(listener) {
      listeners.add(listener);
      if (!isLooking) lookAfter(0);
      return () => void listeners.delete(listener);
    },
  };
}
