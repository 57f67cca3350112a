import { LIVE_POLL_INTERVAL } from './desk-limits.ts';
import type { DeskCalls } from './worker/desk-calls.ts';

interface SharedRevalidations {
  readonly calls: Pick<DeskCalls, 'listRevalidations'>;
  /** Stores a page durably. @returns false if that failed */
  readonly store: (path: string) => boolean;
  readonly dropCached: (path: string) => void;
  readonly log: { warn(fields: object, message: string): void };
  /** Milliseconds. */
  readonly interval?: number;
}

/**
 * Brings `revalidate()` to the other replicas that use the same store, and theirs to this process. While the store is
 * unavailable, they wait in the journal.
 */
export function startRevalidations(options: SharedRevalidations) {
  const { calls, store, dropCached, log, interval = LIVE_POLL_INTERVAL } = options;
  const known = new Map<string, number>();
  let since = 0;
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;

  async function look(): Promise<void> {
    const { now, found } = await calls.listRevalidations(since);
    if (isOver) return;
    since = now;
    for (const { path, at } of found) {
      if (known.get(path) !== at) dropCached(path);
    }
    known.clear();
    for (const { path, at } of found) known.set(path, at);
  }

  async function repeat(): Promise<void> {
    await look().catch(() => {}); // the desk logs that its store is unavailable
    if (!isOver) timer = setTimeout(() => void repeat(), interval).unref();
  }

  void repeat();
  return {
    share(path: string): void {
      if (isOver || store(path)) return;
      log.warn({ path }, 'Other replicas were not told to render this page again. They do it within 300 s.');
    },
    end(): void {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
