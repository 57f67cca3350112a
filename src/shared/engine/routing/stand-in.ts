import {
  type DataRouteMatch,
  type DataRouter,
  IDLE_FETCHER,
  IDLE_NAVIGATION,
  type Location,
  matchPath,
  type RouterState,
} from 'react-router';
import type { PagePayload } from '../wire/payload.ts';
import type { RouteTree } from './route-objects.ts';

/** What a stand-in cannot do by itself. */
export interface StandInHandlers {
  navigate(...args: unknown[]): Promise<void>;
  fetch(...args: unknown[]): Promise<void>;
  revalidate(): Promise<void>;
  /**
   * `useBlocker` lets go of its key here when the real router takes over, and gives it to that router
   * all the same before it takes another: a blocker that nobody would ever take away.
   */
  deleteBlocker(key: string): void;
}

/**
 * An object with the shape of React Router's data router that only holds a page's state. Both sides
 * render through it: the server because it renders one state, the browser because the real router
 * (22 kB) can then come after hydration and take its place.
 */
export function createStandIn(
  tree: RouteTree,
  payload: PagePayload,
  location: Location,
  handlers: StandInHandlers,
  browserWindow?: DataRouter['window'],
): DataRouter {
  const state: RouterState = {
    historyAction: 'POP' as RouterState['historyAction'], // React Router's enum is not exported as a value
    location,
    matches: toMatches(tree, payload.routes, payload.params, location.pathname),
    initialized: true,
    renderFallback: false,
    navigation: IDLE_NAVIGATION,
    restoreScrollPosition: false,
    preventScrollReset: false,
    revalidation: 'idle',
    loaderData: payload.data as RouterState['loaderData'],
    actionData: payload.action ? { [leafOf(payload)]: payload.action } : null,
    errors: payload.errors ? { ...payload.errors } : null,
    fetchers: new Map(),
    blockers: new Map(),
  };
  const toHref = (to: { pathname?: string; search?: string; hash?: string } | string): string =>
    typeof to === 'string' ? to : `${to.pathname ?? ''}${to.search ?? ''}${to.hash ?? ''}`;
  const standIn = {
    basename: '/',
    future: {},
    state,
    routes: tree.objects,
    manifest: tree.byId,
    window: browserWindow,
    match: () => state.matches,
    initialize: () => standIn,
    subscribe: () => () => {},
    enableScrollRestoration: () => () => {},
    navigate: handlers.navigate,
    fetch: handlers.fetch,
    revalidate: handlers.revalidate,
    createHref: toHref,
    createURL: (to: Location | URL | string) =>
      new URL(typeof to === 'string' ? to : toHref(to), 'http://local.invalid'),
    // The matches are spelled as the address is, so nothing is left to encode; with it each page costs six URLs.
    encodeLocation: undefined,
    getFetcher: () => IDLE_FETCHER,
    resetFetcher: () => {},
    deleteFetcher: () => {},
    getBlocker: () => ({ state: 'unblocked', location: undefined, proceed: undefined, reset: undefined }),
    deleteBlocker: handlers.deleteBlocker,
    dispose: () => {},
    patchRoutes: () => {},
  };
  // The rest of the interface is private to React Router and is asked for by the real router alone.
  return standIn as unknown as DataRouter;
}

/** The matches of a page whose route ids are known already: no search through the table. */
export function toMatches(
  tree: RouteTree,
  ids: readonly string[],
  params: PagePayload['params'],
  pathname: string,
): DataRouteMatch[] {
  const matches: DataRouteMatch[] = [];
  let base = '/';
  for (const id of ids) {
    const route = tree.byId[id];
    if (!route) throw new Error(`The server named the route "${id}", which this build does not have.`);
    const own = route.path ? matchOwn(route.path, pathname, id === ids.at(-1)) : undefined;
    if (own) base = own.pathnameBase;
    matches.push({ params: { ...params }, pathname: own?.pathname ?? base, pathnameBase: base, route });
  }
  return matches;
}

/** React Router compiles a pattern anew each time; a path without parameters needs none. */
function matchOwn(
  path: string,
  pathname: string,
  isLeaf: boolean,
): { pathname: string; pathnameBase: string } | undefined {
  if (isLeaf && path === pathname) return { pathname, pathnameBase: pathname };
  return matchPath({ path, caseSensitive: true, end: isLeaf }, pathname) ?? undefined;
}

/** Where React Router keeps what an action answered: under the innermost route. */
function leafOf(payload: PagePayload): string {
  return payload.routes.at(-1) ?? '';
}
