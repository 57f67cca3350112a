import { createStaticHandler, type DataRouteObject, type Params } from 'react-router';
import { readParams } from '../../shared/routing/read-params.ts';
import type { RouteTree } from '../../shared/routing/route-objects.ts';
import type { RenderMode } from '../../shared/routing/routes.ts';
import { NOT_FOUND_ROUTE } from '../../shared/wire/protocol.ts';
import { toSpelling } from '../request/paths.ts';

/** Which routes a path leads to. */
export interface PageMatch {
  /** Outermost first, from the engine's frame to the page. */
  readonly ids: readonly string[];
  readonly params: Params;
  /** The page's pattern (`/orders/:id`), for logs and metrics. */
  readonly pattern: string;
  readonly mode: RenderMode;
  readonly searchKeys: readonly string[];
}

export type MatchPage = (pathname: string) => PageMatch | undefined;

/**
 * Finds the page of a path. Paths without parameters are in a map. Others use React Router's ranking, which the browser
 * uses too. A trailing slash never matches, because each page has one URL.
 */
export function createMatcher(tree: RouteTree): MatchPage {
  const fixed = new Map<string, PageMatch>();
  let patterns = 0;
  for (const { id, path } of tree.definitions.values()) {
    if (!path) continue;
    if (/[:*?]/.test(path)) patterns++;
    else fixed.set(toSpelling(path), toPageMatch(tree, id, {}));
  }
  const ranked = patterns > 0 ? createStaticHandler(withoutNotFound(tree.objects)) : undefined;
  // Several steps of one request ask for its page, one after the other.
  let lastPath: string | undefined;
  let lastMatch: PageMatch | undefined;

  return function matchPage(pathname) {
    const exact = fixed.get(pathname);
    if (exact) return exact;
    if (!ranked || (pathname.endsWith('/') && pathname !== '/')) return undefined;
    if (pathname !== lastPath) {
      const leaf = ranked.match(pathname)?.at(-1);
      lastMatch = leaf && toPageMatch(tree, leaf.route.id, readParams(leaf, pathname));
      lastPath = pathname;
    }
    return lastMatch;
  };
}

/** The match of an unknown URL: the first layout with the 404 page in it. */
export function matchNotFound(tree: RouteTree): PageMatch {
  return { ids: tree.branchOf(NOT_FOUND_ROUTE), params: {}, pattern: '*', mode: 'dynamic', searchKeys: [] };
}

function toPageMatch(tree: RouteTree, id: string, params: Params): PageMatch {
  const definition = tree.definitions.get(id);
  return {
    ids: tree.branchOf(id),
    params: Object.freeze(params), // requests for the same path share it
    pattern: definition?.path ?? '*',
    mode: definition?.mode ?? 'dynamic',
    searchKeys: definition?.searchKeys ?? [],
  };
}

function withoutNotFound(routes: readonly DataRouteObject[]): DataRouteObject[] {
  return routes
    .filter((route) => route.id !== NOT_FOUND_ROUTE)
    .map((route) =>
      route.children ? ({ ...route, children: withoutNotFound(route.children) } as DataRouteObject) : route,
    );
}
