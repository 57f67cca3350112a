import type { DataRouteMatch, DataRouter, RouterState } from 'react-router';
import { readParams } from '../../../shared/engine/routing/read-params.ts';

/** Returns a router whose matches have the parameters that the server has: React Router decodes some of them twice. */
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
    subscribe: {
      value: (fn: Parameters<DataRouter['subscribe']>[0]) =>
        router.subscribe((state, details) => fn(toOwn(state), details)),
    },
  }) as DataRouter;
}
