import type { DataStrategyFunction } from 'react-router';
import { NOT_FOUND_ROUTE } from '../../shared/wire/protocol.ts';
import { createFormResults } from './form-results.ts';
import { UNREACHABLE } from './load-document.ts';
import {
  createPageResults,
  type PageEvents,
  type PageSources,
  type Results,
  type ShownPage,
  STAYED,
  toErrorResult,
  type Wanted,
} from './page-results.ts';
import { RouteLoadError } from './route-loader.ts';

const UNREACHED = 'The page could not be loaded. Check your connection, then try again.';

/** Creates the router's data source: one GET for all routes of a page, one POST for an action and the fresh page. */
export function createDataStrategy(sources: PageSources, shown: ShownPage, events: PageEvents): DataStrategyFunction {
  const { store, load: loadRoutes, isShell } = sources;
  const { getState, toText } = shown;
  const { onFailure, onStay, onRecall, onSend, onAnswer } = events;
  const { leave, show, keep, showPage, redirect } = createPageResults(sources, shown, events);
  const forms = createFormResults(sources, { toText, redirect, onFailure, onSend, onAnswer });

  async function load(wanted: Wanted): Promise<Results> {
    const { request, url, hash, routes, leaf, navigation } = wanted;
    const isFetcher = wanted.fetcherKey !== null;
    const fresh = isFetcher ? undefined : forms.takeFresh();
    if (fresh) return showPage(fresh);
    if (leaf === NOT_FOUND_ROUTE) await leave(wanted, url + hash, { guarded: false });
    if (store.isSkewed() && !isFetcher) {
      if (!navigation) return keep(wanted);
      await leave(wanted, url + hash);
    }

    const visited = navigation === 'POP' ? store.recall(url) : undefined;
    if (visited) {
      const results = await showPage(visited.payload);
      setTimeout(() => onRecall(url)); // once the router shows the page
      return results;
    }
    const loading = isShell(leaf) ? store.loadShell(url, request.signal) : store.load(url, request.signal);
    if (!isFetcher) store.dropPrefetches();
    // A browser remembers an import that failed. `showPage` reports it.
    if (!isFetcher && navigator.onLine !== false) loadRoutes(routes).catch(() => {});
    const result = await loading;
    if (result.kind === 'page' && !isFetcher) store.remember(url, result);
    return show(result, wanted);
  }

  async function loadWithCode(wanted: Wanted): Promise<Results> {
    try {
      return await load(wanted);
    } catch (error) {
      if (wanted.request.signal.aborted || !(error instanceof RouteLoadError)) throw error;
      if (!wanted.navigation) {
        onFailure(error, 'load');
        return keep(wanted);
      }
      await leave(wanted, wanted.url + wanted.hash, { isUncertain: true });
      onFailure(error, 'load'); // the document was loaded a moment ago, and did not help
      return toErrorResult(wanted.leaf, error);
    }
  }

  return async function dataStrategy({ request, matches, fetcherKey, unstable_navigationType: type }) {
    const { pathname, search } = new URL(request.url);
    const { location, navigation, fetchers } = getState();
    const isFetcher = fetcherKey !== null;
    const routes = matches.map((match) => match.route.id);
    const wanted: Wanted = {
      request,
      url: pathname + search,
      hash: isFetcher ? '' : (navigation.location ?? location).hash,
      form: (isFetcher ? fetchers.get(fetcherKey) : navigation)?.formData,
      routes,
      leaf: routes.at(-1) ?? '',
      fetcherKey,
      navigation: isFetcher || type === null ? undefined : type,
    };
    const isPost = request.method !== 'GET';
    // After an action that refused, the router requests nothing, but the data in its response is newer.
    if (!isPost && !forms.hasFresh(wanted.url) && !matches.some((match) => match.shouldCallHandler())) return {};
    try {
      return await (isPost ? forms.act(wanted) : loadWithCode(wanted));
    } catch (error) {
      const isOffline = error === UNREACHABLE;
      if (!(isOffline || error === STAYED) || request.signal.aborted) throw error;
      if (isFetcher) return { [wanted.leaf]: { type: 'data', result: undefined } };
      const message = isOffline ? toText(UNREACHED) : undefined;
      // The URL is there already, or the form was accepted, and must not be sent again.
      if (message && (type === 'POP' || navigation.formMethod === 'POST')) {
        return toErrorResult(wanted.leaf, { kind: 'public', status: 503, message });
      }
      onStay(message);
      return new Promise(() => {}); // the router no longer waits for it
    }
  };
}
