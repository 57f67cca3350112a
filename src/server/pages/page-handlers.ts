import type { Express, Request as ExpressRequest, Response as ExpressResponse, RequestHandler } from 'express';
import { MiB } from '../../shared/units.ts';
import type { PageError } from '../../shared/wire/payload.ts';
import { HOLES_KEY, NOT_FOUND_ROUTE } from '../../shared/wire/protocol.ts';
import { sendAllowed } from '../errors/problem.ts';
import { methodNotAllowed } from '../request/http-error.ts';
import { toPageUrl } from '../request/paths.ts';
import { requestInfo } from '../request/request-info.ts';
import { isRead, READ_METHODS, type Step, toExpress } from '../request/step.ts';
import { isForm } from './actions/form-body.ts';
import { postAction } from './actions/post-action.ts';
import { loadApp } from './load-app.ts';
import { loadPage } from './load-page.ts';
import { matchNotFound, type PageMatch } from './match-page.ts';
import { createPageCache } from './page-cache.ts';
import { keepCookiesPrivate, sendRedirect, toAllowed, type VisitorExchange } from './page-response.ts';
import type { PageRuntime, PagesOptions } from './page-runtime.ts';
import { sendNotPage, sendPageData } from './render/page-data.ts';
import { sendDocument, showPage } from './render/show-page.ts';
import { onDrop } from './revalidate.ts';
import { SharedPageRequest, toSharedSearch } from './shared-page.ts';
import { beginShell, sendShellData, showShell } from './shell/send-shell.ts';
import { type BegunShell, VisitorShell } from './shell/visitor-shell.ts';
import { getStaticPage, sendStaticData, sendStaticPage } from './static/static-page.ts';
import { VisitorPageRequest, type VisitorRequest, withoutKey } from './visitor-page.ts';

/** The page steps of an app, in their order. */
export type PageSteps = Awaited<ReturnType<typeof createPages>>;

/** Static pages in memory, and as much again for shells: HTML and data together (bytes). */
const CACHE_BYTES = 64 * MiB;

/**
 * Loads the modules of all pages and creates the steps that serve them.
 *
 * @throws WiringError if the route table and the server files do not match
 */
export async function createPages<Own extends object = object, Shared extends object = object>(
  options: PagesOptions<Own, Shared>,
) {
  const runtime = await createPageRuntime(options);
  const { matchPage, pages, tree } = runtime.app;
  const { base } = options.app;
  const notFoundMatch = matchNotFound(tree);
  return {
    /** Answers with static pages in memory, and their data. It runs if no step of the product could refuse. */
    inMemory: serveInMemory(runtime, base),
    /** Runs before the steps of the product. */
    keepCookiesPrivate,
    /** GET and HEAD of pages that are made for each visitor, under the same condition. It costs less than Express. */
    visitors: (app: Express, isOthers: (path: string) => boolean) => serveVisitors(runtime, app, isOthers),
    /** GET and HEAD of `/_data…`. */
    data: servePageData(runtime, base),
    /** GET, HEAD and POST of pages. Other URLs go to the next step. */
    pages: servePages(runtime),
    /** The 404 page. It accepts the forms of the layouts around it. */
    notFound: serveNotFound(runtime, notFoundMatch),
    /** The product's page for an error that was thrown outside of pages. */
    renderError: renderErrors(runtime, (path) => matchPage(path) ?? notFoundMatch),
    /** The product's language of a path. */
    toLanguage: options.app.document.language,

    /** Whether a page accepts forms from another origin (`acceptPostsFrom`). */
    acceptsPostsFrom(path: string, origin: string): boolean {
      const ids = matchPage(path)?.ids ?? [];
      return ids.some((id) => pages[id]?.acceptPostsFrom?.includes(origin) ?? false);
    },

    /** Whether a normalized path is a page of the table, or its page data. */
    isPage(path: string): boolean {
      return matchPage(toPageUrl(path, base) ?? path) !== undefined;
    },

    /** The same for a page that has to be rendered. A static page in memory costs less than a refusal. */
    isRendered(target: string): boolean {
      const [path = '', query] = (toPageUrl(target, base) ?? target).split('?');
      const match = matchPage(path);
      if (match?.mode !== 'static') return match !== undefined;
      return !runtime.caches.static.has(path + toSharedSearch(match, query ? `?${query}` : ''));
    },
  };
}

async function createPageRuntime<Own extends object, Shared extends object>(
  options: PagesOptions<Own, Shared>,
): Promise<PageRuntime> {
  const { server } = options;
  const caching = {
    maxBytes: CACHE_BYTES,
    onRefreshFailed: (error: unknown) => void server.funnel.fail(error, { origin: 'render' }),
  };
  const caches: PageRuntime['caches'] = { static: createPageCache(caching), shells: createPageCache(caching) };
  onDrop((path) => {
    caches.static.drop(path);
    caches.shells.drop(path);
  });
  return { app: await loadApp(options), server, caches };
}

function serveInMemory(runtime: PageRuntime, base: string | undefined): Step {
  return function inMemory(req, response, next) {
    const info = requestInfo(req);
    if (info.showsTimings || !isRead(req)) return next();
    const { target } = info;
    const asData = toPageUrl(target, base);
    const page = runtime.caches.static.getFresh(asData ?? target);
    if (!page) return next();
    info.route = page.route;
    const send = asData === undefined ? sendStaticPage : sendStaticData;
    send({ runtime, response }, page);
  };
}

function serveVisitors(runtime: PageRuntime, express: Express, isOthers: (path: string) => boolean): Step {
  return function visitors(req, response, next) {
    const { path } = requestInfo(req);
    const match = isRead(req) && !isOthers(path) ? runtime.app.matchPage(path) : undefined;
    if (!match || match.mode === 'static') return next();
    const begun = match.mode === 'shell' ? beginShell({ runtime, response }) : undefined;
    const request = toExpress(express, req, response);
    return serve(runtime, toAsked(request, response as ExpressResponse, match, { begun }), show);
  };
}

function servePageData(runtime: PageRuntime, base: string | undefined): RequestHandler {
  return async function pageData(request, response, next) {
    const info = requestInfo(request);
    const path = toPageUrl(info.path, base);
    if (path === undefined) return next();
    if (request.method === 'OPTIONS') return sendAllowed(response, READ_METHODS);
    if (!isRead(request)) throw methodNotAllowed(READ_METHODS);
    const match = runtime.app.matchPage(path);
    if (!match) return sendNotPage({ runtime, response });
    const given = info.target.slice(info.path.length);
    const search = withoutKey(given, HOLES_KEY);
    const asked = { request, response, match, path, search, wantsHoles: search !== given };
    await serve(runtime, asked, (exchange) => {
      if (exchange.shell) return sendShellData(exchange, exchange.shell);
      return match.mode === 'static' ? answerStatic(exchange, sendPageData, sendStaticData) : sendPageData(exchange);
    });
  };
}

function servePages(runtime: PageRuntime): RequestHandler {
  const { app } = runtime;
  return async function pages(request, response, next) {
    const info = requestInfo(request);
    const { path } = info;
    const match = app.matchPage(path);
    if (!match) {
      const canonical = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : undefined;
      if (!canonical || !app.matchPage(canonical)) return next();
      const location = canonical + info.target.slice(path.length);
      return sendRedirect({ runtime, response }, { status: 308, location });
    }
    if (request.method === 'OPTIONS') return sendAllowed(response, toAllowed(app, match));
    const isPost = request.method === 'POST';
    await serve(runtime, toAsked(request, response, match, { readsForm: isPost }), (exchange) => {
      if (isPost) return postAction(exchange);
      if (!isRead(request)) throw methodNotAllowed(toAllowed(app, match));
      return match.mode === 'static' ? answerStatic(exchange, showPage, sendStaticPage) : show(exchange);
    });
  };
}

function show(exchange: VisitorExchange): Promise<void> {
  return exchange.shell ? showShell(exchange, exchange.shell) : showPage(exchange);
}

function serveNotFound(runtime: PageRuntime, match: PageMatch): RequestHandler {
  return async function pageNotFound(request, response) {
    // A layout around it can have the form.
    const readsForm = request.method === 'POST' && isForm(request);
    await serve(runtime, toAsked(request, response, match, { readsForm }), readsForm ? postAction : showPage);
  };
}

/** Shows the error in the same layout as a 404. The browser finds the route of the URL itself, so it needs that one. */
function renderErrors(runtime: PageRuntime, match: (path: string) => PageMatch) {
  const outer = matchNotFound(runtime.app.tree).ids;
  return async function renderError(
    request: ExpressRequest,
    response: ExpressResponse,
    error: PageError,
  ): Promise<void> {
    const matched: PageMatch = { ...match(requestInfo(request).path), mode: 'dynamic' };
    const routeId = matched.ids.find((id) => !outer.includes(id)) ?? matched.ids.at(-1) ?? NOT_FOUND_ROUTE;
    await serve(runtime, toAsked(request, response, matched), async (exchange) => {
      const loaded = await loadPage(exchange, { routeId, error });
      if (loaded.kind === 'page') await sendDocument(exchange, loaded);
      else if (loaded.kind === 'redirect') sendRedirect(exchange, loaded);
    });
  };
}

/** A request for a page, as its step has read it. */
interface Asked extends VisitorRequest {
  /** The request counts as a page in progress only when its form has arrived, because that can take long. */
  readonly readsForm?: boolean | undefined;
  readonly wantsHoles?: boolean;
  readonly begun?: BegunShell | undefined;
}

function toAsked(
  request: ExpressRequest,
  response: ExpressResponse,
  match: PageMatch,
  { readsForm, begun }: Pick<Asked, 'readsForm' | 'begun'> = {},
): Asked {
  const { path, target } = requestInfo(request);
  return { request, response, match, path, search: target.slice(path.length), readsForm, begun };
}

/**
 * Answers one request for a page. Every such request begins and ends here. It counts among the pages in progress until
 * its shell is sent. If that never happens, the count ends with `answer`, the response or the deadline. If the client left
 * during an earlier step, nothing starts.
 */
async function serve(
  runtime: PageRuntime,
  asked: Asked,
  answer: (exchange: VisitorExchange) => unknown,
): Promise<void> {
  const { response, match } = asked;
  if (response.closed) return;
  const pageRequest = new VisitorPageRequest(runtime, asked);
  const shell = match.mode === 'shell' ? new VisitorShell(runtime, pageRequest, asked) : undefined;
  try {
    if (!asked.readsForm) pageRequest.enter();
    await answer({ runtime, pageRequest, response, shell });
  } finally {
    pageRequest.leave();
  }
}

/**
 * Answers with a static page. One that cannot be cached, such as a redirect, is sent like a dynamic one by `send`, and
 * ends when its visitor leaves.
 */
async function answerStatic(
  exchange: VisitorExchange,
  send: typeof showPage,
  sendCached: typeof sendStaticPage,
): Promise<void> {
  const { runtime, pageRequest, response } = exchange;
  const page = await getStaticPage(runtime, new SharedPageRequest(runtime, pageRequest));
  if (page) return sendCached({ runtime, response }, page);
  const shared = new SharedPageRequest(runtime, pageRequest, pageRequest.method);
  pageRequest.onAbort((reason) => shared.abort(reason));
  if (pageRequest.endedBy) shared.abort(pageRequest.endedBy);
  return send({ runtime, pageRequest: shared, response });
}
