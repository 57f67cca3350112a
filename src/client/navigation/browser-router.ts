import { createBrowserHistory } from 'spillway:history';
import { createRouter } from 'spillway:router';
import type { DataRouteMatch, DataRouteObject, DataRouter, DataStrategyFunction, RouterState } from 'react-router';
import { readParams } from '../../shared/routing/read-params.ts';

/**
 * Creates React Router's browser router, which takes over the state of the stand-in. The history can have changed
 * before this chunk was there (Back). So the router starts where the page is, and is then notified of the change as of
 * any other.
 *
 * @param shown the state that the page was hydrated with, including its location
 */
export function createBrowserRouter(
  routes: DataRouteObject[],
  shown: RouterState,
  dataStrategy: DataStrategyFunction,
): DataRouter {
  const { location } = shown;
  const browser = createBrowserHistory({ window });
  let listener: Parameters<typeof browser.listen>[0] | undefined;
  let started = false;
  const history: typeof browser = {
    ...browser,
    get action() {
      return browser.action;
    },
    get location() {
      return started ? browser.location : location;
    },
    listen(fn) {
      listener = fn;
      return browser.listen(fn);
    },
  };
  const router = createRouter({ history, routes, window, dataStrategy, hydrationData: shown }).initialize();
  started = true;
  // Once the caller has the router, because the data strategy reads its state.
  queueMicrotask(() => {
    const now = browser.location;
    if (now.pathname !== location.pathname || now.search !== location.search || now.hash !== location.hash) {
      listener?.({ action: browser.action, location: now, delta: null });
    }
  });
  return decodeOnce(router);
}

/**
 * Returns a router whose matches have the parameters that the server has: React Router decodes some of them twice. If it
 * loads the page that is shown again, it also forgets the result of a form, which this router keeps.
 */
export function decodeOnce(router: DataRouter): DataRouter {
  /** The same matches give the same result, so that pages are not rendered again. */
  const known = new WeakMap<DataRouteMatch[], DataRouteMatch[]>();

  function toOwn(state: RouterState): RouterState {
    const { matches, location } = state;
    const leaf = matches.at(-1);
    if (!leaf || !Object.values(leaf.params).some((value) => value?.includes('/'))) return state;
    const params = readParams(leaf, location.pathname);
    const own = known.get(matches) ?? matches.map((match) => ({ ...match, params }));
    known.set(matches, own);
    return { ...state, matches: own };
  }

  return Object.create(router, {
    state: { get: () => toOwn(router.state) },
    revalidate: {
      async value() {
        const { actionData, location } = router.state;
        await router.revalidate();
        if (!actionData || router.state.actionData || router.state.location.key !== location.key) return;
        router._internalSetStateDoNotUseOrYouWillBreakYourApp({ actionData });
      },
    },
    subscribe: {
      value: (fn: Parameters<DataRouter['subscribe']>[0]) =>
        router.subscribe((state, details) => fn(toOwn(state), details)),
    },
  }) as DataRouter;
}

export function toPath({ pathname, search }: Pick<Location, 'pathname' | 'search'>): string {
  return pathname + search;
}
