import { PREFETCH_CONCURRENCY } from '../../shared/shared-limits.ts';
import type { PagePayload } from '../../shared/wire/payload.ts';
import type { FetchPageDataOptions, PageDataResult } from './fetch-page-data.ts';
import {
  createPageEntries,
  isNavigation,
  isReusable,
  isStatic,
  type PageEntry,
  type PrefetchPriority,
  type Waiter,
} from './page-entries.ts';

/** Requests for page data. URLs are paths with a query. */
export interface PagePrefetches {
  /** Fetches ahead of a navigation, unless the data is already there or on its way. Failures are silent. */
  prefetch(url: string, priority: PrefetchPriority, signal?: AbortSignal): void;
  /**
   * Returns the data for a navigation: from memory, from the prefetch that is on its way, or by a new request.
   *
   * @throws the reason of `signal` if it is aborted
   */
  load(url: string, signal?: AbortSignal): Promise<PageDataResult>;
  /** The address of the failure of the page's last prefetch, until the page is requested again. */
  failureOf(url: string): string | undefined;
  /** Whether the complete data is in memory. */
  has(url: string): boolean;
  /** Removes the data, if it is complete. */
  forget(url: string): void;
  /** Cancels the prefetches of the page that the visitor leaves. Requests that a navigation waits for continue. */
  dropPrefetches(): void;
  clear(): void;
}

interface PrefetchesOptions {
  readonly request: (
    url: string,
    options: Pick<FetchPageDataOptions, 'prefetch' | 'retryOf' | 'signal'>,
  ) => Promise<PageDataResult>;
  /** Notes which build the server runs. Returns whether it is another than this browser's. */
  readonly noteBuild: (build: string) => boolean;
  /** Both as in `PageDataStoreOptions`. */
  readonly onPage: (payload: PagePayload) => void;
  readonly onRefused: (url: string) => void;
}

/**
 * Makes one request at a time for a page, which all callers share: a hover's prefetch is the navigation's response.
 * PagePrefetches wait for one of a few slots. A navigation does not wait, and takes no slot. A request without waiters is
 * aborted. The response of a static or shell page is used again, any other's for one navigation.
 */
export function createPrefetches({ request, noteBuild, onPage, onRefused }: PrefetchesOptions): PagePrefetches {
  const entries = createPageEntries();
  const failures = new Map<string, string>();

  function join(entry: PageEntry, priority: Waiter['priority'], signal: AbortSignal | undefined): void {
    const waiter = { priority };
    entry.waiters.add(waiter);
    signal?.addEventListener('abort', () => leave(entry, waiter, signal.reason), { once: true });
  }

  function leave(entry: PageEntry, waiter: Waiter, reason: unknown): void {
    if (entry.isOver || !entry.waiters.delete(waiter)) return;
    // Without its navigation it is a prefetch again, and its slot can be taken.
    if (entry.waiters.size > 0 && entries.countPrefetches() <= PREFETCH_CONCURRENCY) return;
    drop(entry);
    entry.controller.abort(reason);
  }

  function startWaiting(): void {
    while (entries.countPrefetches() < PREFETCH_CONCURRENCY) {
      const next = entries.findWaiting();
      if (!next) return;
      start(next).catch(() => {}); // aborted
    }
  }

  function start(entry: PageEntry): Promise<PageDataResult> {
    entry.answer ??= run(entry);
    return entry.answer;
  }

  async function run(entry: PageEntry): Promise<PageDataResult> {
    const { url, controller } = entry;
    entry.isPrefetch = !isNavigation(entry);
    try {
      const { signal } = controller;
      const retryOf = failures.get(url);
      failures.delete(url);
      const result = await request(url, { prefetch: entry.isPrefetch, retryOf, signal });
      const failure = entry.isPrefetch && findFailure(result);
      if (failure) failures.set(url, failure);
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

  function drop(entry: PageEntry): void {
    entry.isCached = false;
    end(entry);
  }

  function end(entry: PageEntry): void {
    entries.end(entry);
    startWaiting();
  }

  async function load(url: string, signal?: AbortSignal): Promise<PageDataResult> {
    signal?.throwIfAborted();
    const known = entries.find(url);
    // A response that is still arriving serves one navigation. The next one requests newer data.
    const isTaken = known?.result && !known.isOver && isNavigation(known);
    const entry = known && !isTaken ? known : entries.create(url);
    entry.isCached &&= isStatic(entry);
    if (!entry.isOver) join(entry, 'navigation', signal);
    else if (entry.isCached) entries.use(entry);
    else entries.forget(url);
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
      const entry = entries.find(url) ?? entries.create(url);
      if (entry.isOver) return;
      join(entry, priority, signal);
      startWaiting();
    },
    failureOf: (url) => failures.get(url),
    has: (url) => entries.find(url)?.isOver ?? false,
    forget(url) {
      if (entries.find(url)?.isOver) entries.forget(url);
    },
    dropPrefetches() {
      // Waiting requests go first, so that none of them takes the place of one that is aborted.
      const inOrder = entries.list().sort((a, b) => Number(Boolean(a.answer)) - Number(Boolean(b.answer)));
      const reason = new DOMException('This prefetch is no longer needed.', 'AbortError');
      for (const entry of inOrder) {
        for (const waiter of entry.waiters) if (waiter.priority !== 'navigation') leave(entry, waiter, reason);
      }
    },
    clear: entries.clear,
  };
}

/** Only the failure of a page that everyone shares has an address after a prefetch. */
function findFailure(result: PageDataResult): string | undefined {
  const errors = result.kind === 'page' ? Object.values(result.payload.errors ?? {}) : [];
  return errors.find(({ digest }) => digest)?.digest;
}
