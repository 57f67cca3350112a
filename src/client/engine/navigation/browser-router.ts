import { createBrowserHistory } from 'spillway:history';
import { createRouter } from 'spillway:router';
import type { DataRouter, DataStrategyFunction, Location } from 'react-router';
import type { RouteTree } from '../../../shared/engine/routing/route-objects.ts';
import type { PagePayload } from '../../../shared/engine/wire/payload.ts';

export interface BrowserRouterOptions {
  readonly tree: RouteTree;
  /** What the page was hydrated with, and where. */
  readonly payload: PagePayload;
  readonly location: Location;
  readonly dataStrategy: DataStrategyFunction;
}

/**
 * React Router's browser router, taking over from the stand-in with the state that the page has. The
 * history may have moved on meanwhile (Back before this chunk was there): the router starts where the
 * page stands, and is then told of the move like of any other.
 */
export function createBrowserRouter({ tree, payload, location, dataStrategy }: BrowserRouterOptions): DataRouter {
  const browser = createBrowserHistory({ window });
  let listener: Parameters<typeof browser.listen>[0] | undefined;
  let started = false;
  const history: typeof browser = {
    get action() {
      return browser.action;
    },
    get location() {
      return started ? browser.location : location;
    },
    createHref: browser.createHref,
    createURL: browser.createURL,
    encodeLocation: browser.encodeLocation,
    push: browser.push,
    replace: browser.replace,
    go: browser.go,
    listen(fn) {
      listener = fn;
      return browser.listen(fn);
    },
  };
  const router = createRouter({
    history,
    routes: tree.objects,
    window,
    dataStrategy,
    hydrationData: {
      loaderData: payload.data,
      ...(payload.errors ? { errors: { ...payload.errors } } : {}),
      ...(payload.action ? { actionData: { [payload.routes.at(-1) ?? '']: payload.action } } : {}),
    },
  }).initialize();
  started = true;
  const now = browser.location;
  if (now.pathname !== location.pathname || now.search !== location.search || now.hash !== location.hash) {
    listener?.({ action: browser.action, location: now, delta: null });
  }
  return router;
}
