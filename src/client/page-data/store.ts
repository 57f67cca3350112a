import { PAGE_DATA_ATTEMPTS, STATIC_STALE_TIME } from '../../shared/shared-limits.ts';
import type { PagePayload } from '../../shared/wire/payload.ts';
import { BUILD_HEADER, HOLES_HEADER } from '../../shared/wire/protocol.ts';
import { fetchHoles, fetchPageData, fetchPageVersion, fillShell, type PageDataResult } from './fetch-page-data.ts';
import { MAX_CACHED, setNewest } from './page-entries.ts';
import { createPrefetches, type PagePrefetches } from './prefetches.ts';

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
   *
   * @param isAgain its holes were of another shell twice, as with replicas that keep different ones. Load the document
   */
  readonly onRefused: (url: string, isAgain?: boolean) => void;
}

/** A page that was shown, cached for Back. */
interface VisitedPage {
  readonly payload: PagePayload;
  readonly etag: string | undefined;
}

type Revalidation =
  | 'unchanged'
  /** It differs, or cannot be compared. */
  | 'changed'
  /** The server cannot say: keep what is shown. */
  | 'failed';

/** URLs are paths with a query; a fragment is ignored. */
export interface PageDataStore extends Pick<PagePrefetches, 'prefetch' | 'load' | 'dropPrefetches'> {
  /** Loads a page with `mode: 'shell'`: what all visitors share as for a static page, and its holes by a GET. */
  loadShell(url: string, signal?: AbortSignal): Promise<PageDataResult>;
  /** Compares the remembered page with the server's by HEAD. */
  revalidate(url: string): Promise<Revalidation>;
  remember(url: string, page: VisitedPage): void;
  recall(url: string): VisitedPage | undefined;
  /** Call it after an action, so that nothing that was fetched before is used again. */
  dropAll(): void;
  /** True if the server was seen to run another build. */
  isSkewed(): boolean;
}

/** Keeps page data in the browser: responses and prefetches, and the pages that were shown, for Back. */
export function createPageDataStore({
  base,
  build,
  isServerRendered,
  onPage,
  onRefused,
}: PageDataStoreOptions): PageDataStore {
  const pages = new Map<string, VisitedPage & { at: number }>();
  /** URLs whose holes were last of another shell. */
  const mismatched = new Set<string>();
  let skewed = false;

  const toOptions = () => ({ base, attempts: isServerRendered() ? PAGE_DATA_ATTEMPTS : 1 });

  function noteBuild(of: string | undefined): boolean {
    if (of === undefined || of === build) return false;
    skewed = true;
    return true;
  }

  const prefetches = createPrefetches({
    request: (url, options) => fetchPageData(url, { ...toOptions(), ...options }),
    noteBuild,
    onPage,
    onRefused,
  });

  async function loadShell(fullUrl: string, signal?: AbortSignal): Promise<PageDataResult> {
    const url = toKey(fullUrl);
    const isCached = prefetches.has(url);
    const unwanted = new AbortController();
    const holes = fetchHoles(url, {
      ...toOptions(),
      retryOf: prefetches.failureOf(url),
      signal: signal ? AbortSignal.any([signal, unwanted.signal]) : unwanted.signal,
    });
    holes.catch(() => {}); // `fillShell` reads it once the shell is there
    const shell = await prefetches.load(url, signal);
    if (shell.kind === 'page' && shell.lines) return fillShell(shell, holes, isRefused, signal);
    unwanted.abort();
    return shell;

    /** Holes have their places in one shell, and the server can have rendered another since. */
    function isRefused({ headers }: Response): boolean {
      const isOfBuild = !noteBuild(headers.get(BUILD_HEADER) ?? undefined);
      const etag = headers.get(HOLES_HEADER);
      const isOther = shell.kind === 'page' && shell.etag !== undefined && etag !== null && etag !== shell.etag;
      const isAgain = mismatched.delete(url);
      if (!isOther && (!isCached || (isOfBuild && etag !== null))) return false;
      if (isOther && !isAgain) mismatched.add(url);
      prefetches.forget(url);
      onRefused(fullUrl, isOther && isAgain);
      return true;
    }
  }

  function recall(fullUrl: string) {
    const url = toKey(fullUrl);
    const page = pages.get(url);
    if (page) setNewest(pages, url, page);
    return page;
  }

  return {
    load: (url, signal) => prefetches.load(toKey(url), signal),
    loadShell,
    recall,
    dropPrefetches: prefetches.dropPrefetches,
    isSkewed: () => skewed,
    prefetch: (url, priority, signal) => prefetches.prefetch(toKey(url), priority, signal),
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
      prefetches.forget(url);
      return 'changed';
    },
    remember(url, page) {
      setNewest(pages, toKey(url), { ...page, at: performance.now() });
      for (const oldest of pages.keys()) if (pages.size > MAX_CACHED) pages.delete(oldest);
    },
    dropAll() {
      prefetches.dropPrefetches();
      prefetches.clear();
      pages.clear();
    },
  };
}

/** A fragment is not part of a page's data. */
function toKey(url: string): string {
  return url.replace(/#.*$/s, '');
}
