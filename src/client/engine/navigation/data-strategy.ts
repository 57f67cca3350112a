import { type DataStrategyFunction, type DataStrategyResult, data } from 'react-router';
import type { BrowserFailureKind } from '../../../shared/engine/reporting/browser-report.ts';
import type { ActionResult, PagePayload, RedirectPayload } from '../../../shared/engine/wire/payload.ts';
import { ACTION_ACCEPT, NOT_FOUND_ROUTE, readAction } from '../../../shared/engine/wire/protocol.ts';
import { RouteLoadError, type RouteLoader } from '../hydration/route-loader.ts';
import { type PageDataResult, readPageData } from '../page-data/fetch-page-data.ts';
import type { PageDataStore } from '../page-data/store.ts';
import { loadDocument } from './full-load.ts';

export interface DataStrategyOptions {
  readonly build: string;
  readonly store: PageDataStore;
  readonly loader: RouteLoader;
  /** Whether a route has `mode: 'shell'`. */
  readonly isShell: (id: string) => boolean;
  /** Called when Back shows a page from memory, which can have changed since. */
  readonly onRecall: (url: string) => void;
  /** Called with an error that a message to the visitor or, unless it is a missing chunk, a document load replaces. */
  readonly onFailure: (error: unknown, kind?: BrowserFailureKind) => void;
  /** Called when the server has answered a form, except a fetcher's: true if the action accepted it. */
  readonly onAnswer: (isTaken: boolean) => void;
}

type Results = Record<string, DataStrategyResult>;

/** A page or action that the router asks for. */
interface Wanted {
  readonly request: Request;
  /** Path and query. */
  readonly url: string;
  /** Outermost first. */
  readonly routes: readonly string[];
  readonly leaf: string;
  readonly isFetcher: boolean;
  /** Back or Forward. */
  readonly isPop: boolean;
}

const BUSY = 'The server is busy at the moment. Try again in a few seconds.';

const UNTAKEN =
  'The server is busy at the moment, so your form was not processed. What you typed is still here: send it again in a few seconds.';

const UNSENT = 'The form was not sent. What you typed is still here. Check your connection, then send it again.';

/** Creates the router's data source: one GET for all routes of a page, one POST for an action and the fresh page. */
export function createDataStrategy({
  build,
  store,
  loader,
  isShell,
  onRecall,
  onFailure,
  onAnswer,
}: DataStrategyOptions): DataStrategyFunction {
  /** The page data that an action returned, for the router's next load. */
  let fresh: { readonly url: string; readonly payload: PagePayload } | undefined;

  async function show(result: PageDataResult, { url, leaf }: Wanted): Promise<Results> {
    switch (result.kind) {
      case 'page':
        if (result.payload.build !== build) await loadDocument(url);
        return showPage(result.payload);
      case 'redirect':
        return { [leaf]: toRedirect(result.payload) };
      case 'failed':
        onFailure(result.error, 'network');
        await loadDocument(url);
        return toFailure(leaf, result.error);
      case 'busy':
        await loadDocument(url); // the document says so, and reloads itself
        return toFailure(leaf, new Error(BUSY));
      case 'not-page':
        await loadDocument(url);
        return toFailure(leaf, new Error(`The URL ${url} is not a page of this site.`));
    }
  }

  async function showPage(payload: PagePayload): Promise<Results> {
    await loader.prepare(payload);
    return toResults(payload);
  }

  async function load(wanted: Wanted): Promise<Results> {
    const { request, url, routes, leaf, isFetcher, isPop } = wanted;
    const brought = fresh;
    // Left before it was shown, or brought by a fetcher for another page: from here on it gets stale.
    if (!isFetcher) fresh = undefined;
    if (brought?.url === url && !isFetcher) return showPage(brought.payload);
    if (leaf === NOT_FOUND_ROUTE) await loadDocument(url, { guarded: false });
    if (store.isSkewed() && !isFetcher) await loadDocument(url);

    const visited = isPop ? store.recall(url) : undefined;
    if (visited) {
      const results = await showPage(visited.payload);
      setTimeout(() => onRecall(url)); // once the router shows the page
      return results;
    }
    const loading = isShell(leaf) ? store.loadShell(url, request.signal) : store.load(url, request.signal);
    if (!isFetcher) store.dropPrefetches();
    const [result] = await Promise.all([loading, loader.load(routes)]);
    if (result.kind === 'page' && !isFetcher) store.remember(url, result);
    return show(result, wanted);
  }

  async function act({ request, url, leaf, isFetcher }: Wanted): Promise<Results> {
    const type = { 'Content-Type': request.headers.get('Content-Type') ?? '' };
    const body = await request.arrayBuffer();
    const action = await readActionName(new Response(body, { headers: type }));
    const refuse = (message: string) => ({ [leaf]: toActionData({ action, status: 503, errors: { '': message } }) });
    let result: PageDataResult;
    try {
      const headers = { Accept: ACTION_ACCEPT, ...type };
      const response = await fetch(url, { method: 'POST', headers, body, signal: request.signal });
      result = await readPageData(response, request.signal);
    } catch (error) {
      if (request.signal.aborted) throw error;
      onFailure(error, 'network');
      return refuse(UNSENT);
    }
    if (result.kind === 'busy') return refuse(UNTAKEN);
    store.dropAll(); // the action can have changed all data that was fetched before
    if (!isFetcher) onAnswer(isTaken(result));
    if (result.kind === 'redirect') return { [leaf]: toRedirect(result.payload) };
    if (result.kind !== 'page') return toFailure(leaf, new Error(`The form was answered "${result.kind}".`));
    const { payload } = result;
    // If the action answered, its result is shown together with the page's error, which the load brings.
    const failed = payload.action ? undefined : Object.values(payload.errors ?? {})[0];
    if (failed) return { [leaf]: { type: 'error', result: failed } };
    if (payload.build === build) {
      fresh = { url, payload };
      store.remember(url, { payload: { ...payload, action: undefined }, etag: undefined });
    }
    return { [leaf]: toActionData({ status: 200, ...payload.action, action: payload.action?.action || action }) };
  }

  return async function dataStrategy({ request, matches, fetcherKey, unstable_navigationType }) {
    const { pathname, search } = new URL(request.url);
    const routes = matches.map((match) => match.route.id);
    const wanted: Wanted = {
      request,
      url: pathname + search,
      routes,
      leaf: routes.at(-1) ?? '',
      isFetcher: fetcherKey !== null,
      isPop: unstable_navigationType === 'POP',
    };
    if (request.method !== 'GET') return act(wanted);
    // After an action that refused, the router requests nothing, but the data in its response is newer.
    if (fresh?.url !== wanted.url && !matches.some((match) => match.shouldCallHandler())) return {};
    try {
      return await load(wanted);
    } catch (error) {
      if (request.signal.aborted || !(error instanceof RouteLoadError)) throw error;
      await loadDocument(wanted.url);
      onFailure(error, 'load'); // the document was loaded a moment ago, and did not help
      return toFailure(wanted.leaf, error);
    }
  };
}

function toResults(payload: PagePayload): Results {
  const results: Results = {};
  for (const id of payload.routes) {
    const error = payload.errors?.[id];
    results[id] = error ? { type: 'error', result: error } : { type: 'data', result: payload.data[id] ?? null };
    if (error) break;
  }
  return results;
}

/** True if the action neither refused nor failed, even if the page around it did. */
function isTaken(result: PageDataResult): boolean {
  if (result.kind !== 'page') return result.kind === 'redirect';
  const { action, errors } = result.payload;
  return action ? !action.errors : !errors;
}

function toActionData(result: ActionResult): DataStrategyResult {
  return { type: 'data', result: data(result, { status: result.status }) };
}

function toFailure(leaf: string, error: Error): Results {
  return { [leaf]: { type: 'error', result: error } };
}

function toRedirect({ redirect, reload }: RedirectPayload): DataStrategyResult {
  const headers = new Headers({ Location: redirect });
  if (reload) headers.set('X-Remix-Reload-Document', 'true');
  return { type: 'data', result: new Response(null, { status: 302, headers }) };
}

async function readActionName(form: Response): Promise<string> {
  try {
    return readAction(await form.formData()) ?? '';
  } catch {
    return '';
  }
}
