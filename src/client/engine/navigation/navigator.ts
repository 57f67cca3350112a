import type { DataRouter, Location } from 'react-router';
import { DYNAMIC_PREFETCH_TIME, STATIC_STALE_TIME } from '../../../shared/engine/limits.ts';
import type { Commit } from '../../../shared/engine/rendering/engine-context.ts';
import type { RouteTree } from '../../../shared/engine/routing/route-objects.ts';
import type { PagePayload } from '../../../shared/engine/wire/payload.ts';
import { NOT_FOUND_ROUTE } from '../../../shared/engine/wire/protocol.ts';
import { createPostedForm } from '../hydration/posted-form.ts';
import type { RouteLoader } from '../hydration/route-loader.ts';
import { createPageDataStore } from '../page-data/store.ts';
import { createAfterNavigation } from './after-navigation.ts';
import { createBrowserRouter } from './browser-router.ts';
import { createDataStrategy, type DataStrategyOptions } from './data-strategy.ts';
import type { LinkHandlers } from './link-events.ts';
import { prefetchLinks } from './prefetch-events.ts';
import { hasSaveData } from './save-data.ts';
import { keepScrollPositions } from './scroll-positions.ts';

export interface NavigatorOptions {
  readonly tree: RouteTree;
  /** The path that all pages of the app share (`/desk`), empty for none. */
  readonly base: string;
  readonly payload: PagePayload;
  readonly etag: string | undefined;
  readonly location: Location;
  readonly loader: RouteLoader;
  readonly onPage: (payload: PagePayload) => void;
  readonly onFailure: DataStrategyOptions['onFailure'];
}

export interface Navigator extends LinkHandlers {
  readonly router: DataRouter;
  /** To be called with each commit of the page. */
  readonly onCommit: (commit: Commit) => void;
  /** See `Engine`. */
  readonly refresh: () => Promise<boolean>;
}

/** Everything that a page needs only once the visitor goes on: loaded when the browser is idle, or at the first click. */
export function createNavigator({
  tree,
  base,
  payload,
  etag,
  location,
  loader,
  onPage,
  onFailure,
}: NavigatorOptions): Navigator {
  let skewed = false;
  let isServerRendered = true;
  let checkedAt = performance.now();
  // Asked for anew each time: reports tell of requests too, once what sends them has put itself around it.
  const ownFetch: typeof fetch = (input, init) => fetch(input, init);

  const leafOf = (url: string): string | undefined => router.match(url)?.at(-1)?.route.id;
  const isStatic = (url: string): boolean => tree.definitions.get(leafOf(toPathname(url)) ?? '')?.mode === 'static';
  const store = createPageDataStore({
    fetch: ownFetch,
    base,
    now: () => performance.now(),
    build: payload.build,
    isStatic,
    isServerRendered: () => isServerRendered,
    saveData: hasSaveData(),
    onSkew() {
      skewed = true;
    },
    onPage: (page) => void loader.loadStyles(page.styles).catch(() => {}),
  });
  const posted = createPostedForm();
  const afterNavigation = createAfterNavigation(location.pathname);
  const router: DataRouter = createBrowserRouter({
    tree,
    payload,
    location,
    dataStrategy: createDataStrategy({
      build: payload.build,
      store,
      loader,
      router: () => router,
      isSkewed: () => skewed,
      onPage,
      onFailure,
      onAnswer: posted.onAnswer,
      fetch: ownFetch,
    }),
  });
  store.remember(location.pathname + location.search, { payload, status: 200, etag });
  keepScrollPositions(router);
  router.subscribe((state) => {
    if (state.location.key !== location.key) isServerRendered = false;
    if (state.navigation.state === 'idle') checkedAt = performance.now();
  });

  async function refresh(): Promise<boolean> {
    const { location: shown, navigation, revalidation } = router.state;
    if (navigation.state !== 'idle' || revalidation !== 'idle') return false;
    checkedAt = performance.now();
    if (router.state.matches.at(-1)?.route.id === NOT_FOUND_ROUTE) return true; // the server alone can answer it
    const answer = await store.revalidate(toPath(shown));
    if (router.state.location !== shown) return false;
    if (answer === 'changed') await router.revalidate();
    return answer !== 'failed';
  }

  /** Somebody comes back to a tab that was open for long: what it shows may have changed. */
  async function refreshIfOld(): Promise<void> {
    const staleAfter = isStatic(toPath(router.state.location)) ? STATIC_STALE_TIME : DYNAMIC_PREFETCH_TIME;
    if (document.visibilityState === 'visible' && performance.now() - checkedAt >= staleAfter) await refresh();
  }
  const refreshQuietly = (): void => void refreshIfOld().catch(() => {});
  addEventListener('focus', refreshQuietly);
  document.addEventListener('visibilitychange', refreshQuietly);

  prefetchLinks(function prefetch(url, priority, signal) {
    const path = url.pathname + url.search;
    const ids = router.match(url.pathname)?.map((match) => match.route.id) ?? [];
    if (skewed || hasSaveData() || ids.length === 0 || ids.at(-1) === NOT_FOUND_ROUTE) return;
    const { location: shown, navigation } = router.state;
    // The delay of a hover may end when its click has led to the page already, or is about to.
    if (toPath(shown) === path || (navigation.location && toPath(navigation.location) === path)) return;
    store.prefetch(path, priority, signal);
    loader.load(ids).catch(() => {}); // the navigation will tell
  });

  return {
    router,
    refresh,
    onCommit(commit) {
      afterNavigation(commit);
      posted.onCommit();
    },
    navigate(url, { replace, preventScrollReset }) {
      const same = url.href === window.location.href;
      void router.navigate(url.pathname + url.search + url.hash, { replace: replace || same, preventScrollReset });
    },
    submit(form, submitter) {
      const fields = new FormData(form, submitter);
      const method = submitter?.getAttribute('formmethod') ?? form.getAttribute('method') ?? 'get';
      const target = new URL(
        submitter?.getAttribute('formaction') ?? form.getAttribute('action') ?? '',
        window.location.href,
      );
      const replace = form.hasAttribute('data-replace') || undefined;
      const preventScrollReset = form.hasAttribute('data-keep-scroll');
      if (method.toLowerCase() === 'post') {
        const navigation = router.navigate(target.pathname + target.search, {
          formMethod: 'post',
          formEncType: isMultipart(form, submitter) ? 'multipart/form-data' : 'application/x-www-form-urlencoded',
          formData: fields,
          replace,
          preventScrollReset,
        });
        void posted.follow(form, navigation);
        return;
      }
      const search = new URLSearchParams();
      for (const [name, value] of fields) search.append(name, typeof value === 'string' ? value : value.name);
      void router.navigate(`${target.pathname}?${search}`, { replace, preventScrollReset });
    },
  };
}

function isMultipart(form: HTMLFormElement, submitter: HTMLElement | null): boolean {
  return (submitter?.getAttribute('formenctype') ?? form.enctype) === 'multipart/form-data';
}

function toPath({ pathname, search }: Pick<Location, 'pathname' | 'search'>): string {
  return pathname + search;
}

function toPathname(url: string): string {
  return url.replace(/[?#].*$/s, '');
}
