import {
  DYNAMIC_PREFETCH_TIME,
  PAGE_DATA_ATTEMPTS,
  PREFETCH_CONCURRENCY,
  STATIC_STALE_TIME,
} from '../../shared/limits.ts';
import type { PagePayload } from '../../shared/wire/payload.ts';
import { BUILD_HEADER, HOLES_HEADER } from '../../shared/wire/protocol.ts';
import { fetchHoles, fetchPageData, fetchPageVersion, fillShell, type PageDataResult } from './fetch-page-data.ts';

export type PrefetchPriority = 'intent' | 'viewport' | 'render';

export interface PageDataStoreOptions {
  /** The path that all pages of the app share (`/admin`), empty for none. */
  readonly base: string;
  /** The build that this browser runs. */
  readonly build: string;
  /** True if the page is the one that the server rendered: requests that the server fails are then repeated. */
  readonly isServerRendered: () => boolean;
  /** Called when a page's data has arrived, perhaps long before it is shown, so that its other parts can be fetched. */
  readonly onPage: (payload: PagePayload) => void;
  /**
   * Called when a page can be shown with places that stay empty: a deferred value of its prefetch failed, or the server
   * refused the holes of its shell, because the visitor was signed out or the build is another. Load the page again.
   */
  readonly onRefused: (url: string) => void;
}

/** A page that was shown, kept for Back. */
export interface VisitedPage {
  readonly payload: PagePayload;
  readonly etag: string | undefined;
}

export type Revalidation =
  | 'unchanged'
  /** It differs, or cannot be compared. */
  | 'changed'
  /** The server cannot say: keep what is shown. */
  | 'failed';

/** URLs are paths with a query; a fragment is ignored. */
export interface PageDataStore {
  /** Fetches ahead of a navigation, unless the data is already there or on its way. Failures are silent. */
  prefetch(url: string, priority: PrefetchPriority, signal?: AbortSignal): void;
  /**
   * Returns the data for a navigation: from memory, from the prefetch that is on its way, or by a GET.
   *
   * @throws the reason of `signal` if it is aborted
   */
  load(url: string, signal?: AbortSignal): Promise<PageDataResult>;
  /**
   * The same for a page with `mode: 'shell'`: what all visitors share as for a static page, and its holes by a GET.
   */
  loadShell(url: string, signal?: AbortSignal): Promise<PageDataResult>;
  /** Compares the remembered page with the server's by HEAD. */
  revalidate(url: string): Promise<Revalidation>;
  remember(url: string, page: VisitedPage): void;
  recall(url: string): VisitedPage | undefined;
  /** Cancels the prefetches of the page that the visitor leaves. Requests that a navigation waits for continue. */
  dropPrefetches(): void;
  /** Call it after an action, so that nothing that was fetched before is used again. */
  dropAll(): void;
  /** True if the server was seen to run another build. */
  isSkewed(): boolean;
}

/** Pages kept for Back, and responses kept for a navigation (count each). The least recently used is dropped first. */
const MAX_KEPT = 50;

/** A navigation or a link that waits for an entry. */
interface Waiter {
  readonly priority: 'navigation' | PrefetchPriority;
}

/** The data of one page: not requested yet, on its way, or kept until it is used or too old. */
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
  isKept: boolean;
  /** The response is complete, or nothing more will arrive. */
  isOver: boolean;
}

/**
 * Makes one request at a time for a page, which all callers share: a hover's prefetch is the navigation's response.
 * Prefetches wait for one of a few slots. A navigation does not wait, and takes no slot. A request without waiters is
 * aborted.
 *
 * The response of a static or shell page is kept for 300 s, any other's for one navigation within 30 s.
 */
export function createPageDataStore({
  base,
  build,
  isServerRendered,
  onPage,
  onRefused,
}: PageDataStoreOptions): PageDataStore {
  const entries = new Map<string, Entry>();
  const pages = new Map<string, VisitedPage & { at: number }>();
  let skewed = false;

  const toOptions = () => ({ base, attempts: isServerRendered() ? PAGE_DATA_ATTEMPTS : 1 });

  function noteBuild(of: string | undefined): boolean {
    if (of === undefined || of === build) return false;
    skewed = true;
    return true;
  }

  function find(url: string): Entry | undefined {
    const entry = entries.get(url);
    if (!entry?.isOver) return entry;
    if (performance.now() - entry.at < (isStatic(entry) ? STATIC_STALE_TIME : DYNAMIC_PREFETCH_TIME)) return entry;
    entries.delete(url);
    return undefined;
  }

  function create(url: string): Entry {
    const controller = new AbortController();
    const state = { at: 0, isPrefetch: false, isKept: false, isOver: false };
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
      const result = await fetchPageData(url, { ...toOptions(), prefetch: entry.isPrefetch, signal });
      entry.result = result;
      entry.at = performance.now();
      const isOfBuild = !('payload' in result && noteBuild(result.payload.build));
      entry.isKept = isOfBuild && (isStatic(entry) || (!isNavigation(entry) && isReusable(result)));
      if (result.kind === 'page') {
        onPage(result.payload);
        result.done.then(
          (isWhole) => {
            if (isWhole) return end(entry);
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
    entry.isKept = false;
    end(entry);
  }

  function end(entry: Entry): void {
    entry.isOver = true;
    if (!entry.isKept && entries.get(entry.url) === entry) entries.delete(entry.url);
    const kept = [...entries.values()].filter(({ isOver }) => isOver);
    if (kept[0] && kept.length > MAX_KEPT) entries.delete(kept[0].url);
    startWaiting();
  }

  async function load(fullUrl: string, signal?: AbortSignal): Promise<PageDataResult> {
    signal?.throwIfAborted();
    const url = toKey(fullUrl);
    const known = find(url);
    // A response that is still arriving serves one navigation. The next one requests newer data.
    const isTaken = known?.result && !known.isOver && isNavigation(known);
    const entry = known && !isTaken ? known : create(url);
    entry.isKept &&= isStatic(entry);
    if (!entry.isOver) join(entry, 'navigation', signal);
    else if (entry.isKept) setNewest(entries, url, entry);
    else entries.delete(url);
    const result = await start(entry);
    signal?.throwIfAborted();
    // A prefetch can be refused, and its failures are in no incident, so a navigation that has joined one requests the
    // page itself.
    return entry.isPrefetch && !isReusable(result) ? load(url, signal) : result;
  }

  async function loadShell(fullUrl: string, signal?: AbortSignal): Promise<PageDataResult> {
    const url = toKey(fullUrl);
    const isKept = find(url)?.isOver;
    const unwanted = new AbortController();
    const holes = fetchHoles(url, {
      ...toOptions(),
      signal: signal ? AbortSignal.any([signal, unwanted.signal]) : unwanted.signal,
    });
    holes.catch(() => {}); // `fillShell` reads it once the shell is there
    function isRefused({ headers }: Response): boolean {
      const isOfBuild = !noteBuild(headers.get(BUILD_HEADER) ?? undefined);
      if (!isKept || (isOfBuild && headers.has(HOLES_HEADER))) return false;
      entries.delete(url);
      onRefused(fullUrl);
      return true;
    }
    const shell = await load(fullUrl, signal);
    if (shell.kind === 'page' && shell.lines) return fillShell(shell, holes, isRefused, signal);
    unwanted.abort();
    return shell;
  }

  function recall(fullUrl: string) {
    const url = toKey(fullUrl);
    const page = pages.get(url);
    if (page) setNewest(pages, url, page);
    return page;
  }

  function dropPrefetches(): void {
    // Waiting requests go first, so that none of them takes the place of one that is aborted.
    const inOrder = [...entries.values()].sort((a, b) => Number(Boolean(a.answer)) - Number(Boolean(b.answer)));
    const reason = new DOMException('This prefetch is no longer needed.', 'AbortError');
    for (const entry of inOrder) {
      for (const waiter of entry.waiters) if (waiter.priority !== 'navigation') leave(entry, waiter, reason);
    }
  }

  return {
    load,
    loadShell,
    recall,
    dropPrefetches,
    isSkewed: () => skewed,
    prefetch(fullUrl, priority, signal) {
      if (signal?.aborted) return;
      const url = toKey(fullUrl);
      const entry = find(url) ?? create(url);
      if (entry.isOver) return;
      join(entry, priority, signal);
      startWaiting();
    },
    async revalidate(fullUrl) {
      const page = recall(fullUrl);
      if (page?.payload.static && performance.now() - page.at < STATIC_STALE_TIME) return 'unchanged';
      if (!page?.etag || page.payload.shell) return 'changed';
      const url = toKey(fullUrl);
      const version = await fetchPageVersion(url, toOptions());
      if (!version) return 'failed';
      noteBuild(version.build);
      if (version.etag === page.etag) {
        page.at = performance.now();
        return 'unchanged';
      }
      if (entries.get(url)?.isOver) entries.delete(url);
      return 'changed';
    },
    remember(url, page) {
      setNewest(pages, toKey(url), { ...page, at: performance.now() });
      for (const oldest of pages.keys()) if (pages.size > MAX_KEPT) pages.delete(oldest);
    },
    dropAll() {
      dropPrefetches();
      entries.clear();
      pages.clear();
    },
  };
}

/** A `Map` keeps the order of insertion: its first key is the least recently used. */
function setNewest<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
}

/** A fragment is not part of a page's data. */
function toKey(url: string): string {
  return url.replace(/#.*$/s, '');
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

/** A failure is not kept, because it can be over by the time of the click. */
function isReusable(result: PageDataResult): boolean {
  return result.kind === 'redirect' || result.kind === 'not-page' || (result.kind === 'page' && result.status < 500);
}
