import { LIVE_POLL_INTERVAL } from '../limits.ts';

export interface ChangeWatch {
  /** Calls the listener after each check that found a change. Returns a function that removes it. */
  listen(listener: () => void): () => void;
}

export interface ChangeWatchOptions {
  /** Returns a number that grows with each change, over all replicas. */
  readonly read: () => Promise<number>;
  /** Milliseconds. */
  readonly interval?: number;
}

/**
 * Polls the store for changes by any replica on behalf of all listeners, and only while there are listeners. However
 * much changes, listeners are called once an interval.
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
    // An unavailable store counts as unchanged. Entries journaled until then become a change when the store is back.
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
