import { DYNAMIC_PREFETCH_TIME, STATIC_STALE_TIME } from '../../shared/shared-limits.ts';
import type { PageDataResult } from './fetch-page-data.ts';

export type PrefetchPriority = 'intent' | 'viewport' | 'render';

/** A navigation or a link that waits for an entry. */
export interface Waiter {
  readonly priority: 'navigation' | PrefetchPriority;
}

/** The data of one page: not requested yet, on its way, or cached until it is used or too old. */
export interface PageEntry {
  readonly url: string;
  readonly waiters: Set<Waiter>;
  readonly controller: AbortController;
  /** Settles with the first line. Absent until the request is made. */
  answer?: Promise<PageDataResult>;
  result?: PageDataResult;
  /** When the result arrived, by `performance.now()` (ms). */
  at: number;
  /** The request was made for a prefetch, which the server can refuse. */
  isPrefetch: boolean;
  /** The result can be used again after its end. */
  isCached: boolean;
  /** The response is complete, or nothing more will arrive. */
  isOver: boolean;
}

/** Entries of one map (count). The least recently used is dropped first. */
export const MAX_CACHED = 50;

/** The entries by URL. The response of a static or shell page is cached for 300 s, any other's for 30 s. */
export function createPageEntries() {
  const entries = new Map<string, PageEntry>();
  return {
    /** Returns the entry of a page, unless it is too old. */
    find(url: string): PageEntry | undefined {
      const entry = entries.get(url);
      if (!entry?.isOver) return entry;
      if (performance.now() - entry.at < (isStatic(entry) ? STATIC_STALE_TIME : DYNAMIC_PREFETCH_TIME)) return entry;
      entries.delete(url);
      return undefined;
    },
    create(url: string): PageEntry {
      const entry: PageEntry = {
        url,
        waiters: new Set(),
        controller: new AbortController(),
        at: 0,
        isPrefetch: false,
        isCached: false,
        isOver: false,
      };
      entries.set(url, entry);
      return entry;
    },
    list: () => [...entries.values()],
    /** Counts the prefetches that are on their way. */
    countPrefetches(): number {
      let count = 0;
      for (const entry of entries.values()) if (entry.answer && !entry.isOver && !isNavigation(entry)) count++;
      return count;
    },
    /** Finds the prefetch that is requested next: one that a visitor is about to follow, or the first. */
    findWaiting(): PageEntry | undefined {
      const waiting = [...entries.values()].filter((entry) => !entry.answer);
      return waiting.find((entry) => isWantedFor(entry, 'intent')) ?? waiting[0];
    },
    /** Notes that an entry is used, so that it is dropped later than others. */
    use: (entry: PageEntry) => setNewest(entries, entry.url, entry),
    /** Notes that nothing more will arrive for an entry, and drops it unless it is cached. */
    end(entry: PageEntry): void {
      entry.isOver = true;
      if (!entry.isCached && entries.get(entry.url) === entry) entries.delete(entry.url);
      const over = [...entries.values()].filter(({ isOver }) => isOver);
      if (over[0] && over.length > MAX_CACHED) entries.delete(over[0].url);
    },
    forget: (url: string) => void entries.delete(url),
    clear: () => entries.clear(),
  };
}

/** A `Map` keeps the order of insertion: its first key is the least recently used. */
export function setNewest<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
}

function isWantedFor(entry: PageEntry, priority: Waiter['priority']): boolean {
  return [...entry.waiters].some((waiter) => waiter.priority === priority);
}

export function isNavigation(entry: PageEntry): boolean {
  return isWantedFor(entry, 'navigation');
}

export function isStatic({ result }: PageEntry): boolean {
  if (result?.kind !== 'page' || result.status !== 200) return false;
  return Boolean(result.payload.static || result.payload.shell);
}

/** A failure is not cached, because it can be over by the time of the click. */
export function isReusable(result: PageDataResult): boolean {
  return result.kind === 'redirect' || result.kind === 'not-page' || (result.kind === 'page' && result.status < 500);
}
