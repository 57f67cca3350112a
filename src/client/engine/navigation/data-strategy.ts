import { type DataRouter, type DataStrategyFunction, type DataStrategyResult, data } from 'react-router';
import type { BrowserFailureKind } from '../../../shared/engine/reporting/browser-report.ts';
import type { ActionOutcome, PagePayload } from '../../../shared/engine/wire/payload.ts';
import { ACTION_ACCEPT, NOT_FOUND_ROUTE, readAction } from '../../../shared/engine/wire/protocol.ts';
import { RouteLoadError, type RouteLoader } from '../hydration/route-loader.ts';
import { type PageDataResult, readPageData } from '../page-data/fetch-page-data.ts';
import type { PageDataStore } from '../page-data/store.ts';
import { loadDocument } from './full-load.ts';

export interface DataStrategyOptions {
  readonly build: string;
  readonly store: PageDataStore;
  readonly loader: RouteLoader;
  readonly router: () => DataRouter;
  /** The server was seen to run another build. */
  readonly isSkewed: () => boolean;
  /** Called with each page before it is shown. */
  readonly onPage: (payload: PagePayload) => void;
  /** Called with what failed, before a document load or a message to the visitor takes its place. */
  readonly onFailure: (error: unknown, kind?: BrowserFailureKind) => void;
  /** A form was posted, not by a fetcher, and the server answered: whether the action took what was sent. */
  readonly onAnswer: (isTaken: boolean) => void;
  readonly fetch: typeof fetch;
}

type Results = Record<string, DataStrategyResult>;

/** A navigation that ends in a document load never comes back. */
const NEVER: Promise<never> = new Promise(() => {});

const BUSY = 'The server has too much to do at the moment. Try again in a few seconds.';

const UNTAKEN =
  'The server has too much to do at the moment, and did nothing with the form. What you typed is still here: send it again in a few seconds.';

const UNSENT = 'The form could not be sent. What you typed is still here: check the connection, and send it again.';

/** How the router gets its data: one GET for all routes of a page, one POST for an action and the fresh page. */
export function createDataStrategy(options: DataStrategyOptions): DataStrategyFunction {
  const { store, loader } = options;
  /** What an action brought along, for the load that the router does next. */
  let fresh: { readonly url: string; readonly payload: PagePayload } | undefined;

  function fullLoad(url: string, guarded: boolean): Promise<never> | undefined {
    return loadDocument(new URL(url, location.origin).href, { guarded }) ? NEVER : undefined;
  }

  async function show(result: PageDataResult, url: string, leaf: string): Promise<Results> {
    if (result.kind === 'redirect') return { [leaf]: toRedirect(result.location, result.reload) };
    if (result.kind === 'failed') {
      options.onFailure(result.error, 'network');
      await fullLoad(url, true);
      return toFailure(leaf, result.error);
    }
    if (result.kind === 'busy') {
      // The document says so, and comes again by itself.
      await fullLoad(url, true);
      return toFailure(leaf, new Error(BUSY));
    }
    if (result.kind !== 'page') {
      await fullLoad(url, true);
      return toFailure(leaf, new Error(`The address ${url} is no page of this site.`));
    }
    if (result.payload.build !== options.build) await fullLoad(url, true);
    await prepare(result.payload);
    return toResults(result.payload);
  }

  async function prepare(payload: PagePayload): Promise<void> {
    await Promise.all([loader.load(payload.routes), loader.loadStyles(payload.styles)]);
    options.onPage(payload);
  }

  async function load(
    request: Request,
    leaf: string,
    routes: readonly string[],
    isPop: boolean,
    isFetcher: boolean,
  ): Promise<Results> {
    const url = toPath(request.url);
    if (fresh?.url === url && !isFetcher) {
      const { payload } = fresh;
      fresh = undefined;
      await prepare(payload);
      return toResults(payload);
    }
    // Left before it was shown, or brought by a fetcher for another page: it grows old from here on.
    if (!isFetcher) fresh = undefined;
    if (leaf === NOT_FOUND_ROUTE || (options.isSkewed() && !isFetcher)) await fullLoad(url, leaf !== NOT_FOUND_ROUTE);

    const visited = isPop ? store.recall(url) : undefined;
    if (visited) {
      await prepare(visited.payload);
      refreshBehind(url);
      return toResults(visited.payload);
    }
    const loading = store.load(url, { signal: request.signal });
    if (!isFetcher) store.dropPrefetches();
    const [result] = await Promise.all([loading, loader.load(routes)]);
    if (result.kind === 'page' && !isFetcher) {
      store.remember(url, { payload: result.payload, status: result.status, etag: result.etag });
    }
    return show(result, url, leaf);
  }

  /** Back shows what was there at once; what has changed meanwhile comes after it. */
  function refreshBehind(url: string): void {
    const ask = async (): Promise<void> => {
      const answer = await store.revalidate(url);
      const { location } = options.router().state;
      if (answer === 'changed' && location.pathname + location.search === url) await options.router().revalidate();
    };
    setTimeout(() => void ask().catch(() => {}));
  }

  async function act(request: Request, leaf: string, isFetcher: boolean): Promise<Results> {
    const url = toPath(request.url);
    const body = await request.arrayBuffer();
    const name = await readActionName(request.headers.get('Content-Type') ?? '', body);
    let result: PageDataResult;
    try {
      const response = await options.fetch(url, {
        method: 'POST',
        headers: { Accept: ACTION_ACCEPT, 'Content-Type': request.headers.get('Content-Type') ?? '' },
        body,
        signal: request.signal,
      });
      result = await readPageData(response, request.signal);
    } catch (error) {
      if (request.signal.aborted) throw error;
      options.onFailure(error, 'network');
      return { [leaf]: toOutcome({ action: name, status: 503, errors: { '': UNSENT } }) };
    }
    if (result.kind === 'busy') return { [leaf]: toOutcome({ action: name, status: 503, errors: { '': UNTAKEN } }) };
    store.dropAll(); // whatever was fetched before may have been changed by it
    if (!isFetcher) options.onAnswer(isTaken(result));
    if (result.kind === 'redirect') return { [leaf]: toRedirect(result.location, result.reload) };
    if (result.kind !== 'page') return toFailure(leaf, new Error(`The form was answered "${result.kind}".`));
    const { payload } = result;
    // Where the action answered, what it said is shown beside the page's error, which comes with the load.
    const failed = payload.action ? undefined : Object.values(payload.errors ?? {})[0];
    if (failed) return { [leaf]: { type: 'error', result: failed } };
    if (payload.build === options.build) {
      fresh = { url, payload };
      store.remember(url, { payload: { ...payload, action: undefined }, status: 200, etag: undefined });
    }
    const outcome = payload.action ?? { action: name, status: 200 };
    return { [leaf]: toOutcome(outcome.action === '' ? { ...outcome, action: name } : outcome) };
  }

  return async function dataStrategy({ request, matches, fetcherKey, unstable_navigationType }) {
    const leaf = matches.at(-1)?.route.id ?? '';
    const isFetcher = fetcherKey !== null;
    if (request.method !== 'GET') return act(request, leaf, isFetcher);
    const isFresh = fresh?.url === toPath(request.url);
    // After an action that refused, the router asks for nothing: what the answer brought is still newer.
    if (!isFresh && !matches.some((match) => match.shouldCallHandler())) return {};
    const ids = matches.map((match) => match.route.id);
    try {
      return await load(request, leaf, ids, unstable_navigationType === 'POP', isFetcher);
    } catch (error) {
      if (request.signal.aborted || !(error instanceof RouteLoadError)) throw error;
      options.onFailure(error, 'load');
      await fullLoad(toPath(request.url), true);
      return toFailure(leaf, error);
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

/** The action refused nothing and did not fail, whatever became of the page around it. */
function isTaken(result: PageDataResult): boolean {
  if (result.kind !== 'page') return result.kind === 'redirect';
  const { action, errors } = result.payload;
  return action ? !action.errors : !errors;
}

function toOutcome(outcome: ActionOutcome): DataStrategyResult {
  return { type: 'data', result: data(outcome, { status: outcome.status }) };
}

function toFailure(leaf: string, error: Error): Results {
  return { [leaf]: { type: 'error', result: error } };
}

function toRedirect(to: string, reload: boolean): DataStrategyResult {
  const headers = new Headers({ Location: to });
  if (reload) headers.set('X-Remix-Reload-Document', 'true');
  return { type: 'data', result: new Response(null, { status: 302, headers }) };
}

function toPath(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

async function readActionName(type: string, body: ArrayBuffer): Promise<string> {
  try {
    const form = await new Response(body.slice(0), { headers: { 'Content-Type': type } }).formData();
    return readAction(form) ?? '';
  } catch {
    return '';
  }
}
