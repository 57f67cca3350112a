import {
  createPath,
  type DataRouteMatch,
  type DataRouter,
  IDLE_FETCHER,
  IDLE_NAVIGATION,
  type Location,
  matchPath,
  type RouterState,
  type To,
} from 'react-router';
import type { PagePayload } from '../wire/payload.ts';
import type { RouteTree } from './route-objects.ts';

export interface StandInOptions {
  readonly tree: RouteTree;
  readonly payload: PagePayload;
  readonly location: Location;
  // A stand-in passes these on.
  navigate(...args: unknown[]): Promise<void>;
  fetch(...args: unknown[]): Promise<void>;
  revalidate(): Promise<void>;
  /**
   * `useBlocker` releases its key here when the real router takes over, and still gives it to that
   * router before it takes another one: a blocker that nothing would ever remove.
   */
  deleteBlocker(key: string): void;
}

/**
 * An object with the shape of React Router's data router that only holds a page's state. Both sides
 * render through it: the server because it renders one state, the browser because the real router
 * (22 kB) can then follow after hydration and take its place.
 *
 * It has the members that `RouterView` and React Router's hooks use; no others are asked for below it.
 */
export function createStandIn({
  tree,
  payload,
  location,
  navigate,
  fetch,
  revalidate,
  deleteBlocker,
}: StandInOptions): DataRouter {
  const state: RouterState = {
    historyAction: 'POP' as RouterState['historyAction'], // React Router's enum is not exported as a value
    location,
    matches: toMatches(tree, payload, location.pathname),
    initialized: true,
    renderFallback: false,
    navigation: IDLE_NAVIGATION,
    restoreScrollPosition: false,
    preventScrollReset: false,
    revalidation: 'idle',
    loaderData: payload.data as RouterState['loaderData'],
    // React Router keeps it under the innermost route.
    actionData: payload.action ? { [payload.routes.at(-1) ?? '']: payload.action } : null,
    errors: payload.errors ? { ...payload.errors } : null,
    fetchers: new Map(),
    blockers: new Map(),
  };
  const standIn = {
    state,
    navigate,
    fetch,
    revalidate,
    deleteBlocker,
    subscribe: () => () => {},
    enableScrollRestoration: () => () => {},
    createHref: (to: To) => (typeof to === 'string' ? to : createPath(to)),
    // The matches are spelled as the address is, so nothing is left to encode; with it each page costs six URLs.
    encodeLocation: undefined,
    getFetcher: () => IDLE_FETCHER,
    resetFetcher: () => {},
    deleteFetcher: () => {},
    getBlocker: () => ({ state: 'unblocked', location: undefined, proceed: undefined, reset: undefined }),
  };
  return standIn as unknown as DataRouter;
}

/** The matches of a page whose route ids are known already: no search through the table. */
export function toMatches(
  tree: RouteTree,
  { routes, params }: Pick<PagePayload, 'routes' | 'params'>,
  pathname: string,
): DataRouteMatch[] {
  const matches: DataRouteMatch[] = [];
  let base = '/';
  for (const id of routes) {
    const route = tree.byId[id];
    if (!route) throw new Error(`The server named the route "${id}", which this build does not have.`);
    const own = route.path ? matchOwn(route.path, pathname, id === routes.at(-1)) : undefined;
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
