import { type DataStrategyFunction, type DataStrategyResult, data, type RouterState } from 'react-router';
import { MAX_ACTION_BYTES } from '../../shared/limits.ts';
import type { EngineText } from '../../shared/rendering/language.ts';
import { toShownError } from '../../shared/rendering/page-error.ts';
import type { BrowserFailureKind } from '../../shared/reporting/browser-report.ts';
import type { ActionResult, PageError, PagePayload, RedirectPayload } from '../../shared/wire/payload.ts';
import { ACTION_FIELD, NOT_FOUND_ROUTE, readAction } from '../../shared/wire/protocol.ts';
import { toSize } from '../../shared/words.ts';
import { type PageDataResult, readPageData } from '../page-data/fetch-page-data.ts';
import type { PageDataStore } from '../page-data/store.ts';
import { leaveOldBuild, loadDocument, requireReachable, UNREACHABLE } from './load-document.ts';
import type { NextPage } from './next-page.ts';
import { keepPageState } from './page-state.ts';
import { isMultipart, postForm, toFileBytes } from './post-form.ts';
import { RouteLoadError, type RouteLoader } from './route-loader.ts';

export interface DataStrategyOptions extends Pick<RouteLoader, 'load'>, Pick<NextPage, 'prepare'> {
  readonly build: string;
  readonly store: PageDataStore;
  /** Whether a route has `mode: 'shell'`. */
  readonly isShell: (id: string) => boolean;
  /** Called when Back shows a page from memory, which can have changed since. */
  readonly onRecall: (url: string) => void;
  /** Called with an error that a message to the visitor or, unless it is a missing chunk, a document load replaces. */
  readonly onFailure: (error: unknown, kind?: BrowserFailureKind) => void;
  /** Called when a form is sent, except a fetcher's. */
  readonly onSend: () => void;
  /** Called when the server has answered a form, except a fetcher's: true if the action accepted it. */
  readonly onAnswer: (isTaken: boolean) => void;
  /** The router's state. When a request begins, it has the form and the fragment, which the request lacks. */
  readonly getState: () => Pick<RouterState, 'location' | 'navigation' | 'fetchers' | 'loaderData' | 'errors'>;
  /** Returns a sentence of Spillway in the language of the page. */
  readonly toText: (text: EngineText, filled?: Readonly<Record<string, string>>) => string;
  /** Called before a document replaces the page of a navigation. */
  readonly onLeave: () => void;
  /** Called if the page stays, so that the navigation is over. The message says why no document was loaded. */
  readonly onStay: (message?: string) => void;
}

type Results = Record<string, DataStrategyResult>;

/** A page or action that the router asks for. */
interface Wanted {
  readonly request: Request;
  /** Path and query. */
  readonly url: string;
  /** The fragment of the page that the router asks for, with its `#`; none for a fetcher. */
  readonly hash: string;
  readonly form: FormData | undefined;
  /** Outermost first. */
  readonly routes: readonly string[];
  readonly leaf: string;
  /** Set for a fetcher. */
  readonly fetcherKey: string | null;
  /** The type of a navigation. Undefined for a fetcher, and if the page that is shown is loaded again. */
  readonly navigation: 'PUSH' | 'REPLACE' | 'POP' | undefined;
}

const UNREACHED = 'The page could not be loaded. Check your connection, then try again.';
const BUSY = 'The server is busy at the moment. Try again in a few seconds.';

/** Thrown if a document was loaded and the page stays nevertheless. */
const STAYED = Symbol('stayed');

/** Creates the router's data source: one GET for all routes of a page, one POST for an action and the fresh page. */
export function createDataStrategy({
  build,
  store,
  load: loadRoutes,
  prepare,
  isShell,
  onRecall,
  onFailure,
  onSend,
  onAnswer,
  getState,
  toText,
  onLeave,
  onStay,
}: DataStrategyOptions): DataStrategyFunction {
  /** The page data that an action returned, for the router's next load. */
  let fresh: { readonly url: string; readonly payload: PagePayload } | undefined;
  /** Answers to forms so far (count). */
  let answers = 0;

  /** Loads the document of a page that cannot be shown without it, in the entry that the navigation would have. */
  async function leave(wanted: Wanted, url: string, { guarded = true, isUncertain = false } = {}): Promise<void> {
    const { navigation, fetcherKey, request } = wanted;
    await requireReachable(url, isUncertain, request.signal);
    if (fetcherKey === null) onLeave();
    removeEventListener('pagehide', keepPageState);
    if (await loadDocument(url, { guarded, isReplaced: navigation === 'REPLACE' || navigation === 'POP' }))
      throw STAYED;
  }

  async function show(result: PageDataResult, wanted: Wanted): Promise<Results> {
    const isReplaced = result.kind === 'redirect' || (result.kind === 'page' && result.payload.errors);
    // The visitor may be typing. An error page that is loaded again must not replace what was kept.
    if (isReplaced && !wanted.navigation && wanted.fetcherKey === null && !getState().errors) keepPageState();
    if (result.kind === 'redirect') return redirect(result.payload, wanted);
    if (result.kind === 'page' && result.payload.build === build) {
      return wanted.fetcherKey === null ? showPage(result.payload) : toResults(result.payload);
    }
    if (result.kind === 'failed') onFailure(result.error, 'network');
    if (!wanted.navigation) return keep(wanted);
    const url = wanted.url + wanted.hash;
    const isUncertain = result.kind === 'failed' && result.error instanceof TypeError; // as `fetch` fails
    await leave(wanted, url, { isUncertain }); // that of a busy server says so, and reloads itself
    if (result.kind === 'page') return showPage(result.payload);
    if (result.kind === 'failed') return toFailure(wanted.leaf, result.error);
    const text = result.kind === 'busy' ? BUSY : `The URL ${url} is not a page of this site.`;
    return toFailure(wanted.leaf, new Error(text));
  }

  /** No visitor waits for a fetcher or for a page that is loaded again, so what is shown stays, with what was typed. */
  function keep({ leaf, routes, fetcherKey }: Wanted): Results {
    const { fetchers, loaderData, errors } = getState();
    if (fetcherKey !== null) return { [leaf]: { type: 'data', result: fetchers.get(fetcherKey)?.data } };
    return toResults({ routes, data: loaderData, errors: errors ?? undefined });
  }

  /** A redirect without a fragment keeps that of the URL before, as in HTTP. */
  async function redirect({ redirect: to, reload }: RedirectPayload, wanted: Wanted): Promise<Results> {
    const { leaf, hash } = wanted;
    const location = to.includes('#') ? to : to + hash;
    if (reload) await leave(wanted, location, { guarded: false });
    return { [leaf]: { type: 'data', result: new Response(null, { status: 302, headers: { Location: location } }) } };
  }

  async function showPage(payload: PagePayload): Promise<Results> {
    await prepare(payload);
    return toResults(payload);
  }

  async function load(wanted: Wanted): Promise<Results> {
    const { request, url, hash, routes, leaf, navigation } = wanted;
    const isFetcher = wanted.fetcherKey !== null;
    const brought = fresh;
    // Left before it was shown, or brought by a fetcher for another page: from here on it gets stale.
    if (!isFetcher) fresh = undefined;
    if (brought?.url === url && !isFetcher) return showPage(brought.payload);
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

  async function act(wanted: Wanted): Promise<Results> {
    const { request, url, form, leaf } = wanted;
    const isFetcher = wanted.fetcherKey !== null;
    const action = (form && readAction(form)) ?? '';
    const isTyped = [...(form ?? [])].some(([name, value]) => name !== ACTION_FIELD && typeof value === 'string');
    const refuse = (message: string, status = 503) => {
      const note = isTyped ? ` ${toText('What you typed is still here.')}` : '';
      return { [leaf]: toActionData({ action, status, errors: { '': message + note } }) };
    };
    const page = store.recall(url)?.payload;
    const limit = page?.uploads?.[action || `${leaf}.default`] ?? MAX_ACTION_BYTES;
    if (page && toFileBytes(request, form) > limit) {
      return refuse(
        toText('This is more than {size}. Choose smaller files, or shorten the text.', { size: toSize(limit) }),
        413,
      );
    }
    // Also now: the server carries out a form that the visitor leaves.
    store.dropAll();
    if (!isFetcher) onSend();
    const before = answers;
    let result: PageDataResult;
    try {
      const response = await postForm(url, { request, form, showsProgress: !isFetcher });
      result = await readPageData(response, request.signal);
    } catch (error) {
      store.dropAll();
      if (request.signal.aborted) throw error;
      onFailure(error, 'network');
      const { message, status, digest } = toShownError(error);
      if (message) return refuse(toText(message as EngineText), status); // of the engine, or as the product wrote it
      if (digest) return refuse(toText('Something went wrong on our side (digest {digest}).', { digest }), status);
      const unsent = isMultipart(request)
        ? 'The form was not sent. Check your connection and the size of your files, then send it again.'
        : 'The form was not sent. Check your connection, then send it again.';
      return refuse(toText(unsent));
    }
    if (result.kind === 'busy') {
      return refuse(
        toText('The server is busy at the moment, so your form was not processed. Send it again in a few seconds.'),
      );
    }
    store.dropAll(); // the action can have changed all data that was fetched before
    answers += 1;
    if (!isFetcher) onAnswer(isTaken(result));
    if (result.kind === 'redirect') {
      if (result.payload.unsent) keepPageState();
      return redirect(result.payload, wanted);
    }
    if (result.kind !== 'page') return toFailure(leaf, new Error(`The form was answered "${result.kind}".`));
    const { payload } = result;
    if (payload.errors && !isTaken(result)) keepPageState(); // an error replaces the page
    if (payload.build !== build && (payload.action || isTaken(result))) await leaveOldBuild(result, wanted);
    // If the action answered, its result is shown together with the page's error, which the load brings.
    const failed = payload.action ? undefined : Object.values(payload.errors ?? {})[0];
    if (failed) return { [leaf]: { type: 'error', result: failed } };
    // If another form was answered meanwhile, this page can be older than what that answer showed.
    if (payload.build === build && answers === before + 1) {
      fresh = { url, payload };
      store.remember(url, { payload: { ...payload, action: undefined }, etag: undefined });
    }
    return { [leaf]: toActionData({ status: 200, ...payload.action, action: payload.action?.action || action }) };
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
      return toFailure(wanted.leaf, error);
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
    if (!isPost && fresh?.url !== wanted.url && !matches.some((match) => match.shouldCallHandler())) return {};
    try {
      return await (isPost ? act(wanted) : loadWithCode(wanted));
    } catch (error) {
      const isOffline = error === UNREACHABLE;
      if (!(isOffline || error === STAYED) || request.signal.aborted) throw error;
      if (isFetcher) return { [wanted.leaf]: { type: 'data', result: undefined } };
      const message = isOffline ? toText(UNREACHED) : undefined;
      // The URL is there already, or the form was accepted, and must not be sent again.
      if (message && (type === 'POP' || navigation.formMethod === 'POST')) {
        return toFailure(wanted.leaf, { kind: 'public', status: 503, message });
      }
      onStay(message);
      return new Promise(() => {}); // the router no longer waits for it
    }
  };
}

function toResults(payload: Pick<PagePayload, 'routes' | 'data' | 'errors'>): Results {
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

function toFailure(leaf: string, error: Error | PageError): Results {
  return { [leaf]: { type: 'error', result: error } };
}
