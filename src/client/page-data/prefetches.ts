import { DYNAMIC_PREFETCH_TIME, PREFETCH_CONCURRENCY, STATIC_STALE_TIME } from '../../shared/limits.ts';
import type { PagePayload } from '../../shared/wire/payload.ts';
import type { PageDataResult } from './fetch-page-data.ts';

export type PrefetchPriority = 'intent' | 'viewport' | 'render';

/** Requests for page data. URLs are paths with a query. */
export interface Prefetches {
  /** Fetches ahead of a navigation, unless the data is already there or on its way. Failures are silent. */
  prefetch(url: string, priority: PrefetchPriority, signal?: AbortSignal): void;
  /**
   * Returns the data for a navigation: from memory, from the prefetch that is on its way, or by a new request.
   *
   * @throws the reason of `signal` if it is aborted
   */
  load(url: string, signal?: AbortSignal): Promise<PageDataResult>;
  /** Whether the complete data is in memory. */
  has(url: string): boolean;
  /** Removes the data, if it is complete. */
  forget(url: string): void;
  /** Cancels the prefetches of the page that the visitor leaves. Requests that a navigation waits for continue. */
  dropPrefetches(): void;
  clear(): void;
}

interface PrefetchesOptions {
  readonly request: (url: string, isPrefetch: boolean, signal: AbortSignal) => Promise<PageDataResult>;
  /** Notes which build the server runs. Returns whether it is another than this browser's. */
  readonly noteBuild: (build: string) => boolean;
  /** Both as in `PageDataStoreOptions`. */
  readonly onPage: (payload: PagePayload) => void;
  readonly onRefused: (url: string) => void;
}

/** Entries of one map (count). The least recently used is dropped first. */
export const MAX_CACHED = 50;

/** A navigation or a link that waits for an entry. */
interface Waiter {
  readonly priority: 'navigation' | PrefetchPriority;
}

/** The data of one page: not requested yet, on its way, or cached until it is used or too old. */
interface Entry {
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

/**
 * Makes one request at a time for a page, which all callers share: a hover's prefetch is the navigation's response.
 * Prefetches wait for one of a few slots. A navigation does not wait, and takes no slot. A request without waiters is
 * aborted.
 *
 * The response of a static or shell page is cached for 300 s, any other's for one navigation within 30 s.
 */
export function createPrefetches({ request, noteBuild, onPage, onRefused }: PrefetchesOptions): Prefetches {
  const entries = new Map<string, Entry>();

  function find(url: string): Entry | undefined {
    const entry = entries.get(url);
    if (!entry?.isOver) return entry;
    if (performance.now() - entry.at < (isStatic(entry) ? STATIC_STALE_TIME : DYNAMIC_PREFETCH_TIME)) return entry;
    entries.delete(url);
    return undefined;
  }

  function create(url: string): Entry {
    const controller = new AbortController();
    const state = { at: 0, isPrefetch: false, isCached: false, isOver: false };
    const entry: Entry = { url, waiters: new Set(), controller, ...state };
    entries.set(url, entry);
    return entry;
  }

  function join(entry: Entry, priority: Waiter['priority'], signal: AbortSignal | undefined): void {
    const waiter = { priority };
    entry.waiters.add(waiter);
    signal?.addEventListener('abort', () => leave(entry, waiter, signal.reason), { once: true });
  }

  function leave(entry: Entry, waiter: Waiter, reason: unknown): void {
    if (entry.isOver || !entry.waiters.delete(waiter)) return;
    // Without its navigation it is a prefetch again, and its slot can be taken.
    if (entry.waiters.size > 0 && countPrefetches() <= PREFETCH_CONCURRENCY) return;
    drop(entry);
    entry.controller.abort(reason);
  }

  function countPrefetches(): number {
    let count = 0;
    for (const entry of entries.values()) if (entry.answer && !entry.isOver && !isNavigation(entry)) count++;
    return count;
  }

  function startWaiting(): void {
    while (countPrefetches() < PREFETCH_CONCURRENCY) {
      const waiting = [...entries.values()].filter((entry) => !entry.answer);
      const next = waiting.find((entry) => isWantedFor(entry, 'intent')) ?? waiting[0];
      if (!next) return;
      start(next).catch(() => {}); // aborted
    }
  }

  function start(entry: Entry): Promise<PageDataResult> {
    entry.answer ??= run(entry);
    return entry.answer;
  }

  async function run(entry: Entry): Promise<PageDataResult> {
    const { url, controller } = entry;
    entry.isPrefetch = !isNavigation(entry);
    try {
      const { signal } = controller;
      const result = await request(url, entry.isPrefetch, signal);
      entry.result = result;
      entry.at = performance.now();
      const isOfBuild = !('payload' in result && noteBuild(result.payload.build));
      entry.isCached = isOfBuild && (isStatic(entry) || (!isNavigation(entry) && isReusable(result)));
      if (result.kind === 'page') {
        onPage(result.payload);
        result.done.then(
          (isComplete) => {
            if (isComplete) return end(entry);
            drop(entry);
            if (isNavigation(entry)) onRefused(url);
          },
          () => drop(entry),
        );
      } else {
        end(entry);
      }
      return result;
    } catch (error) {
      drop(entry);
      throw error;
    }
  }

  function drop(entry: Entry): void {
    entry.isCached = false;
    end(entry);
  }

  function end(entry: Entry): void {
    entry.isOver = true;
    if (!entry.isCached && entries.get(entry.url) === entry) entries.delete(entry.url);
    const over = [...entries.values()].filter(({ isOver }) => isOver);
    if (over[0] && over.length > MAX_CACHED) entries.delete(over[0].url);
    startWaiting();
  }

  async function load(url: string, signal?: AbortSignal): Promise<PageDataResult> {
    signal?.throwIfAborted();
    const known = find(url);
    // A response that is still arriving serves one navigation. The next one requests newer data.
    const isTaken = known?.result && !known.isOver && isNavigation(known);
    const entry = known && !isTaken ? known : create(url);
    entry.isCached &&= isStatic(entry);
    if (!entry.isOver) join(entry, 'navigation', signal);
    else if (entry.isCached) setNewest(entries, url, entry);
    else entries.delete(url);
    const result = await start(entry);
    signal?.throwIfAborted();
    // A prefetch can be refused, and its failures are in no incident, so a navigation that has joined one requests the
    // page itself.
    return entry.isPrefetch && !isReusable(result) ? load(url, signal) : result;
  }

  return {
    load,
    prefetch(url, priority, signal) {
      if (signal?.aborted) return;
      const entry = find(url) ?? create(url);
      if (entry.isOver) return;
      join(entry, priority, signal);
      startWaiting();
    },
    has: (url) => find(url)?.isOver ?? false,
    forget(url) {
      if (entries.get(url)?.isOver) entries.delete(url);
    },
    dropPrefetches() {
      // Waiting requests go first, so that none of them takes the place of one that is aborted.
      const inOrder = [...entries.values()].sort((a, b) => Number(Boolean(a.answer)) - Number(Boolean(b.answer)));
      const reason = new DOMException('This prefetch is no longer needed.', 'AbortError');
      for (const entry of inOrder) {
        for (const waiter of entry.waiters) if (waiter.priority !== 'navigation') leave(entry, waiter, reason);
      }
    },
    clear: () => entries.clear(),
  };
}

/** A `Map` keeps the order of insertion: its first key is the least recently used. */
export function setNewest<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
}

function isWantedFor(entry: Entry, priority: Waiter['priority']): boolean {
  return [...entry.waiters].some((waiter) => waiter.priority === priority);
}

function isNavigation(entry: Entry): boolean {
  return isWantedFor(entry, 'navigation');
}

function isStatic({ result }: Entry): boolean {
  if (result?.kind !== 'page' || result.status !== 200) return false;
  return Boolean(result.payload.static || result.payload.shell);
}

/** A failure is not cached, because it can be over by the time of the click. */
function isReusable(result: PageDataResult): boolean {
  return result.kind === 'redirect' || result.kind === 'not-page' || (result.kind === 'page' && result.status < 500);
}
