import {
  createPath,
  type DataRouteMatch,
  type DataRouter,
  IDLE_BLOCKER,
  IDLE_FETCHER,
  IDLE_NAVIGATION,
  type Location,
  type RouterState,
  type To,
} from 'react-router';
import type { PagePayload } from '../wire/payload.ts';
import type { RouteTree } from './route-objects.ts';

interface StandInPage {
  readonly tree: RouteTree;
  readonly payload: PagePayload;
  readonly location: Location;
}

/** The calls that the stand-in forwards. */
export interface ForwardedCalls {
  navigate(...args: unknown[]): Promise<void>;
  fetch(...args: unknown[]): Promise<void>;
  revalidate(): Promise<void>;
  /**
   * When the real router takes over, `useBlocker` deletes its key here, but still registers that key with the real
   * router before it takes a new one. Without this call, nothing would remove that blocker.
   */
  deleteBlocker(key: string): void;
}

/**
 * Creates an object with the interface of React Router's data router that only holds a page's state. The server renders
 * with it because it renders a single state. The browser hydrates with it and loads the real router (22 kB) afterwards.
 *
 * It has only the members that `RouterView` and React Router's hooks use.
 */
export function createStandIn(
  { tree, payload, location }: StandInPage,
  { navigate, fetch, revalidate, deleteBlocker }: ForwardedCalls,
): DataRouter {
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
    // React Router stores it by the innermost route.
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
    // The matches are already encoded. Encoding again would parse six URLs per page.
    encodeLocation: undefined,
    getFetcher: () => IDLE_FETCHER,
    resetFetcher: () => {},
    deleteFetcher: () => {},
    getBlocker(key: string) {
      state.blockers.set(key, IDLE_BLOCKER);
      return IDLE_BLOCKER;
    },
  };
  return standIn as unknown as DataRouter;
}

/** Returns the matches of a page whose route ids are known, without matching the whole table. */
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
    const isLeaf = id === routes.at(-1) && route.path !== undefined;
    if (route.path) base = isLeaf && !route.path.endsWith('*') ? pathname : toBase(route.path, pathname, params);
    matches.push({ params: { ...params }, pathname: isLeaf ? pathname : base, pathnameBase: base, route });
  }
  return matches;
}

/**
 * Returns the part of a path that the pattern of a route covers, without a splat. The path matches, and its parameters are
 * known, so this is much cheaper than React Router's `matchPath`, and keeps it out of the first load.
 */
function toBase(pattern: string, pathname: string, params: PagePayload['params']): string {
  const parts = pathname.split('/');
  let count = 1;
  for (const part of pattern.split('/').slice(1)) {
    if (part === '*') break;
    const name = part.replace(/\?$/, '');
    const isThere = name[0] === ':' ? params[name.slice(1)] !== undefined : parts[count] === name;
    if (part === name || isThere) count += 1;
  }
  return parts.slice(0, count).join('/') || '/';
}
