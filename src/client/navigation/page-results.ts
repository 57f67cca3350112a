import type { DataStrategyResult, RouterState } from 'react-router';
import type { EngineText } from '../../shared/rendering/language.ts';
import type { BrowserFailureKind } from '../../shared/reporting/browser-report.ts';
import type { PageError, PagePayload, RedirectPayload } from '../../shared/wire/payload.ts';
import type { PageDataResult } from '../page-data/fetch-page-data.ts';
import type { PageDataStore } from '../page-data/store.ts';
import { loadDocument, requireReachable } from './load-document.ts';
import type { NextPage } from './next-page.ts';
import { keepPageState } from './page-state.ts';
import type { RouteLoader } from './route-loader.ts';

/** Where the data and the code of a page come from. */
export interface PageSources extends Pick<NextPage, 'prepare'>, Pick<RouteLoader, 'load'> {
  /** The build that this browser runs. */
  readonly build: string;
  readonly store: PageDataStore;
  /** Whether a route has `mode: 'shell'`. */
  readonly isShell: (id: string) => boolean;
}

/** Reads the page that is shown. */
export interface ShownPage {
  /** The router's state. When a request begins, it has the form and the fragment, which the request lacks. */
  readonly getState: () => Pick<RouterState, 'location' | 'navigation' | 'fetchers' | 'loaderData' | 'errors'>;
  /** Returns a sentence of Spillway in the language of the page. */
  readonly toText: (text: EngineText, filled?: Readonly<Record<string, string>>) => string;
}

export interface PageEvents {
  /** Called with an error that a message to the visitor or, unless it is a missing chunk, a document load replaces. */
  readonly onFailure: (error: unknown, kind?: BrowserFailureKind) => void;
  /** Called before a document replaces the page of a navigation. */
  readonly onLeave: () => void;
  /** Called if the page stays, so that the navigation is over. The message says why no document was loaded. */
  readonly onStay: (message?: string) => void;
  /** Called when Back shows a page from memory, which can have changed since. */
  readonly onRecall: (url: string) => void;
  /** Called when a form is sent, except a fetcher's. */
  readonly onSend: () => void;
  /** Called when the server has answered a form, except a fetcher's: true if the action accepted it. */
  readonly onAnswer: (isTaken: boolean) => void;
}

/** What the router shows, by route. */
export type Results = Record<string, DataStrategyResult>;

/** A page or action that the router asks for. */
export interface Wanted {
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

const BUSY = 'The server is busy at the moment. Try again in a few seconds.';

/** How many redirects browsers follow before they say that there is no end (count). */
const MAX_REDIRECTS = 20;

/** Thrown if a document was loaded and the page stays nevertheless. */
export const STAYED = Symbol('stayed');

export type PageResults = ReturnType<typeof createPageResults>;

/** Creates the functions that make what the router shows of an answer, or load a document in its place. */
export function createPageResults(
  { build, prepare }: Pick<PageSources, 'build' | 'prepare'>,
  { getState }: Pick<ShownPage, 'getState'>,
  { onFailure, onLeave }: Pick<PageEvents, 'onFailure' | 'onLeave'>,
) {
  /** Since a page was shown (count). */
  let redirects = 0;

  /** Loads the document of a page that cannot be shown without it, in the entry that the navigation would have. */
  async function leave(wanted: Wanted, url: string, { guarded = true, isUncertain = false } = {}): Promise<void> {
    const { navigation, fetcherKey, request } = wanted;
    await requireReachable(url, isUncertain, request.signal);
    if (fetcherKey === null) onLeave();
    removeEventListener('pagehide', keepPageState);
    // The router replaces a page by the answer to its form, but this is another document, as after a redirect in HTTP.
    const isReplaced = request.method === 'GET' && (navigation === 'REPLACE' || navigation === 'POP');
    if (await loadDocument(url, { guarded, isReplaced }, request.signal)) throw STAYED;
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
    if (result.kind === 'failed') return toErrorResult(wanted.leaf, result.error);
    const text = result.kind === 'busy' ? BUSY : `The URL ${url} is not a page of this site.`;
    return toErrorResult(wanted.leaf, new Error(text));
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
    redirects += 1;
    if (reload || redirects > MAX_REDIRECTS) {
      redirects = 0;
      await leave(wanted, location, { guarded: false });
    }
    return { [leaf]: { type: 'data', result: new Response(null, { status: 302, headers: { Location: location } }) } };
  }

  async function showPage(payload: PagePayload): Promise<Results> {
    await prepare(payload);
    redirects = 0;
    return toResults(payload);
  }

  return { leave, show, keep, redirect, showPage };
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

export function toErrorResult(leaf: string, error: Error | PageError): Results {
  return { [leaf]: { type: 'error', result: error } };
}
