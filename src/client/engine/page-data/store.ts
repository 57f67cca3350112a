import { PAGE_DATA_ATTEMPTS, PREFETCH_CONCURRENCY, STATIC_STALE_TIME } from '../../../shared/engine/limits.ts';
import type { PagePayload } from '../../../shared/engine/wire/payload.ts';
import { createPageCache } from './cache.ts';
import { fetchPageData, fetchPageVersion, type PageDataResult } from './fetch-page-data.ts';
import { createQueue, type JobView, type PrefetchPriority } from './queue.ts';

export interface PageDataStoreOptions {
  readonly fetch: typeof globalThis.fetch;
  /** The path that all pages of the app share (`/desk`); none by default. */
  readonly base?: string;
  /** A clock that never runs backwards (ms). */
  readonly now: () => number;
  /** The build that this browser runs. */
  readonly build: string;
  /** Whether the page at a URL (path and search) is rendered once for everyone. */
  readonly isStatic: (url: string) => boolean;
  /** A response was made by another build than this browser's. It may be called more than once. */
  readonly onSkew: (build: string) => void;
  /** Before the first navigation: requests that the server fails are made again. */
  readonly isServerRendered?: () => boolean;
  /** A page's data has come, long before it is shown perhaps: what else it needs can be fetched. */
  readonly onPage?: (payload: PagePayload) => void;
  /** The visitor pays for data: nothing is prefetched. */
  readonly saveData?: boolean;
}

/** A page that was shown, for Back. */
export interface VisitedPage {
  readonly payload: PagePayload;
  readonly status: number;
  readonly etag?: string;
}

export type Revalidation =
  | 'unchanged'
  /** It differs, or cannot be compared. */
  | 'changed'
  /** The server cannot say: keep what is shown. */
  | 'failed';

export interface PageDataStore {
  /** Fetches ahead of a navigation, unless the data is there or on its way. Failures are silent. */
  prefetch(url: string, priority: PrefetchPriority, signal?: AbortSignal): void;
  /**
   * The data for a navigation: from the cache, from the prefetch that is on its way, or by a GET.
   *
   * @throws what `signal` was aborted with
   */
  load(url: string, options?: { readonly signal?: AbortSignal }): Promise<PageDataResult>;
  /** Compares the remembered page with the server's by HEAD. */
  revalidate(url: string, signal?: AbortSignal): Promise<Revalidation>;
  remember(url: string, page: VisitedPage): void;
  recall(url: string): VisitedPage | undefined;
  /** Cancels what is prefetched for the page that the visitor leaves; what a navigation waits for goes on. */
  dropPrefetches(priority?: PrefetchPriority): void;
  /** After an action: nothing that was fetched before it is used again. */
  dropAll(): void;
  /** Counts. */
  stats(): PageDataStats;
}

export interface PageDataStats {
  readonly waiting: number;
  readonly prefetches: number;
  readonly navigations: number;
  readonly answers: number;
  readonly pages: number;
}

export function createPageDataStore(options: PageDataStoreOptions): PageDataStore {
  const { fetch, base = '', build, isStatic } = options;
  const cache = createPageCache<PageDataResult, VisitedPage>({ now: options.now });
  const queue = createQueue<PageDataResult>({ concurrency: PREFETCH_CONCURRENCY, toEnd });
  /** Counts the calls of `dropAll`: an answer to an older request is not kept. */
  let generation = 0;

  function attempts(): number {
    return options.isServerRendered?.() ? PAGE_DATA_ATTEMPTS : 1;
  }

  function isSkewed(of: string | undefined): boolean {
    if (of === undefined || of === build) return false;
    options.onSkew(of);
    return true;
  }

  function keep(url: string, result: PageDataResult, isNavigation: boolean): void {
    if ('build' in result && isSkewed(result.build)) return;
    const isStaticPage = result.kind === 'page' && result.status === 200 && isStatic(url);
    if (isStaticPage || (!isNavigation && isReusable(result))) cache.put(url, result, isStaticPage);
    if (result.kind === 'page') result.done.catch(() => cache.drop(url, result));
  }

  function startFetch(url: string, prefetch: boolean) {
    return async (job: JobView): Promise<PageDataResult> => {
      const startedIn = generation;
      const result = await fetchPageData(url, { fetch, base, prefetch, signal: job.signal, attempts: attempts() });
      // The server may refuse prefetches alone: a navigation that has joined asks again by itself.
      if (prefetch && result.kind === 'failed') throw result.error;
      if (prefetch && result.kind === 'busy') throw new Error('The server has no time for prefetches.');
      if (result.kind === 'page') options.onPage?.(result.payload);
      if (startedIn === generation) keep(url, result, job.isNavigation);
      return result;
    };
  }

  async function load(fullUrl: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<PageDataResult> {
    const url = toKey(fullUrl);
    signal?.throwIfAborted();
    // Join first: the rest of a cached answer may still be on its way, and must not end with its prefetch.
    const isOnItsWay = queue.has(url);
    const cached = cache.take(url);
    if (cached && !isOnItsWay) return cached;
    const ticket = queue.add(url, 'navigation', startFetch(url, false), signal);
    try {
      return await ticket.result;
    } catch (error) {
      if (!ticket.joined || signal?.aborted) throw error;
      return queue.add(url, 'navigation', startFetch(url, false), signal).result;
    }
  }

  async function revalidate(fullUrl: string, signal?: AbortSignal): Promise<Revalidation> {
    const url = toKey(fullUrl);
    const page = cache.recall(url);
    if (page && isStatic(url) && cache.ageOf(url) < STATIC_STALE_TIME) return 'unchanged';
    if (!page?.etag) return 'changed';
    const version = await fetchPageVersion(url, { fetch, base, signal, attempts: attempts() });
    if (!version || version.status >= 500) return 'failed';
    isSkewed(version.build);
    if (version.etag === page.etag) {
      if (cache.recall(url) === page) cache.remember(url, page);
      return 'unchanged';
    }
    cache.drop(url);
    return 'changed';
  }

  return {
    prefetch(fullUrl, priority, signal) {
      const url = toKey(fullUrl);
      if (options.saveData || (cache.has(url) && !queue.has(url))) return;
      queue.add(url, priority, startFetch(url, true), signal);
    },
    load,
    revalidate,
    remember: (url, page) => cache.remember(toKey(url), page),
    recall: (url) => cache.recall(toKey(url)),
    dropPrefetches: (priority) => queue.dropAll(priority),
    dropAll() {
      generation++;
      queue.reset();
      cache.dropAll();
    },
    stats: () => ({ ...queue.stats(), ...cache.stats() }),
  };
}

/** A place on a page is not part of its data. */
function toKey(url: string): string {
  return url.replace(/#.*$/s, '');
}

/** A failure is no answer to keep: it may have passed by the time of the click. */
function isReusable(result: PageDataResult): boolean {
  return result.kind === 'redirect' || result.kind === 'not-page' || (result.kind === 'page' && result.status < 500);
}

async function toEnd(result: PageDataResult): Promise<void> {
  if (result.kind === 'page') await result.done;
}
