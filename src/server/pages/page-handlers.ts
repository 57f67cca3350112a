import type { Request as ExpressRequest, Response as ExpressResponse, RequestHandler } from 'express';
import type { ComponentType } from 'react';
import { MAX_ACTION_BYTES } from '../../shared/limits.ts';
import type { DocumentProps, ErrorPages } from '../../shared/rendering/engine-context.ts';
import { createRouteTree } from '../../shared/routing/route-objects.ts';
import type { PageModule, RouteDefinition } from '../../shared/routing/routes.ts';
import { MiB, Second } from '../../shared/units.ts';
import type { AssetManifest } from '../../shared/wire/manifest.ts';
import type { PageError } from '../../shared/wire/payload.ts';
import { HOLES_KEY, NOT_FOUND_ROUTE } from '../../shared/wire/protocol.ts';
import type { Funnel } from '../errors/funnel.ts';
import { sendAllowed } from '../errors/problem.ts';
import { WiringError } from '../errors/wiring-error.ts';
import type { ContentPolicy } from '../front/content-policy.ts';
import { isOfThisSite } from '../front/cross-site.ts';
import type { RenderLimiter } from '../front/render-limiter.ts';
import type { AppLog } from '../request/app-log.ts';
import { methodNotAllowed } from '../request/http-error.ts';
import type { Origins } from '../request/origins.ts';
import { toPageUrl } from '../request/paths.ts';
import { requestInfo } from '../request/request-info.ts';
import type { Step } from '../request/step.ts';
import { createTraceHeaders, type TracedProject } from '../request/trace-headers.ts';
import { isForm } from './actions/form-body.ts';
import { postAction } from './actions/post-action.ts';
import { createContextFetch } from './context-fetch.ts';
import type { KeptPage } from './kept.ts';
import { loadPage } from './load-page.ts';
import { createMatcher, matchNotFound } from './match-page.ts';
import { createPageCache } from './page-cache.ts';
import {
  type PageRequest,
  type PageRequestOptions,
  SharedPageRequest,
  VisitorPageRequest,
  withoutKey,
} from './page-request.ts';
import {
  type PageExchange,
  type PageServices,
  READ_METHODS,
  sendRedirect,
  toAllowed,
  type VisitorExchange,
} from './page-response.ts';
import { sendNotPage, sendPageData } from './render/page-data.ts';
import { sendDocument, showPage } from './render/show-page.ts';
import { onDrop } from './revalidate.ts';
import type { EngineContext, PageTable } from './server-page.ts';
import { toSharedSearch } from './shared-render.ts';
import { withFixedHead } from './shell/fixed-head.ts';
import { getKeptShell } from './shell/kept-shell.ts';
import { beginShell, findBegun } from './shell/send-shell.ts';
import { toSharedArgs } from './static/shared-args.ts';
import { getKeptPage, sendKeptData, sendKeptPage } from './static/static-page.ts';
import { requireBothHalves } from './wiring.ts';

export interface PagesOptions<Own extends object = object> {
  readonly routes: readonly RouteDefinition[];
  /** The server halves, by route id. */
  readonly pages: PageTable<EngineContext & NoInfer<Own>>;
  readonly document: ComponentType<DocumentProps>;
  readonly errorPages: ErrorPages;
  readonly manifest: AssetManifest;
  readonly funnel: Funnel;
  readonly log: AppLog;
  readonly policy: ContentPolicy;
  readonly origins: Origins;
  /** Returns what the product adds to the `context` of loaders, guards and actions. */
  readonly createContext?: (request: ExpressRequest, response: ExpressResponse) => Own | Promise<Own>;
  /** The part that is the same for everyone, such as settings. Static pages and shells can read it. */
  readonly sharedContext?: object;
  readonly lang?: string;
  /** All responses are `no-store`. Open pages still check their data by `ETag`. */
  readonly isSecret: boolean;
  /** The folder of the tables, for error messages. Default: `product`. */
  readonly family?: string;
  /** The path that all pages and their data share (`/admin`). Default: none. */
  readonly base?: string;
  /** Keep compressed copies of static pages. */
  readonly compression?: boolean;
  /** Origins to which `context.fetch` sends trace headers. */
  readonly traceTargets: readonly string[];
  /** The project that trace headers name. */
  readonly traced?: TracedProject;
  /** How long a page can take, up to its last deferred value (ms). */
  readonly deadlineMs?: number;
  /** Limits renders and counts pages in progress; undefined for no limit. */
  readonly limiter: RenderLimiter | undefined;
  /** Reads forms. */
  /** Largest form (bytes). */
  readonly maxActionBytes?: number;
}

interface Asked extends Pick<PageRequestOptions, 'request' | 'response' | 'match' | 'path' | 'search' | 'wantsHoles'> {
  /** The request counts as a page in progress only when its form has arrived, because that can take long. */
  readonly readsForm?: boolean;
}

/** The page steps of an app, in their order. */
export interface PageSteps {
  /**
   * Answers with static pages in memory, and begins the response of shell pages. It needs nothing of Express, and runs if
   * no step of the product could refuse.
   */
  readonly kept: Step;
  /** GET and HEAD of `/_data…`. */
  readonly data: RequestHandler;
  /** GET, HEAD and POST of pages. Other URLs go to the next step. */
  readonly pages: RequestHandler;
  /** The 404 page. It accepts the forms of the layouts around it. */
  readonly notFound: RequestHandler;
  /** The product's page for an error that was thrown outside of pages. */
  readonly renderError: (request: ExpressRequest, response: ExpressResponse, error: PageError) => Promise<void>;
  /** Whether a page accepts forms from another origin (`acceptPostsFrom`). */
  readonly acceptsPostsFrom: (path: string, origin: string) => boolean;
  /** Whether a normalized path is a page of the table, or its page data. */
  readonly isPage: (path: string) => boolean;
  /** The same for a page that is rendered for each request. */
  readonly isRendered: (path: string) => boolean;
}

const RENDER_DEADLINE = 15 * Second;

/** Static pages in memory, and as much again for shells: HTML and data together (bytes). */
const CACHE_BYTES = 64 * MiB;

/**
 * Loads the modules of all pages and creates the steps that serve them.
 *
 * @throws WiringError if the route table and the server halves do not match
 */
export async function createPages<Own extends object = object>(options: PagesOptions<Own>): Promise<PageSteps> {
  const tree = createRouteTree(options.routes);
  const pages = options.pages as PageTable; // they are called with what toContext() makes
  requireBothHalves(tree.definitions.keys(), pages, options.family);
  const { funnel, log, origins, base = '' } = options;
  const caching = {
    maxBytes: CACHE_BYTES,
    onRefreshFailed: (error: unknown) => void funnel.fail(error, { origin: 'render' }),
  };
  const services: PageServices = {
    tree,
    matchPage: createMatcher(tree),
    pages,
    modules: await loadModules(tree.definitions, options.family),
    document: options.document,
    errorPages: options.errorPages,
    lang: options.lang ?? 'en',
    manifest: options.manifest,
    funnel,
    log,
    policy: options.policy,
    cache: createPageCache(caching),
    shells: createPageCache(caching),
    sharedOrigin: origins.fallback,
    hasOneHost: new Set(origins.configured.map((origin) => new URL(origin).host)).size === 1,
    compresses: options.compression ?? false,
    isSecret: options.isSecret,
    deadlineMs: options.deadlineMs ?? RENDER_DEADLINE,
    limiter: options.limiter,
    maxActionBytes: options.maxActionBytes ?? MAX_ACTION_BYTES,
  };
  onDrop((path) => {
    services.cache.drop(path);
    services.shells.drop(path);
  });
  const notFoundMatch = matchNotFound(tree);
  const { traceTargets, createContext } = options;
  const traceHeaders = createTraceHeaders(options.traced ?? {});

  /**
   * Answers one request for a page. Every such request begins and ends here. It counts among the pages in
   * progress until its shell is sent. If that never happens, the count ends with `answer`, the response or the
   * deadline. If the client left during an earlier step, nothing starts.
   */
  async function serve(asked: Asked, answer: (exchange: VisitorExchange) => unknown): Promise<void> {
    const { request, response, readsForm = false } = asked;
    if (response.closed) return;
    const { deadlineMs, limiter } = services;
    const hasShell = asked.match.mode === 'shell';
    const findShell = hasShell
      ? async (pageRequest: PageRequest) => findBegun(response) ?? getKeptShell(services, toShared(pageRequest))
      : undefined;
    const pageRequest = new VisitorPageRequest({ ...asked, deadlineMs, limiter, createContext: toContext, findShell });
    try {
      if (!readsForm) pageRequest.enter();
      await answer({ services, pageRequest, response });
    } finally {
      pageRequest.leave();
    }

    async function toContext(): Promise<EngineContext> {
      const own = await createContext?.(
        request,
        hasShell ? withFixedHead(response, () => pageRequest.isHeadFixed) : response,
      );
      const contextFetch = createContextFetch({
        signal: () => pageRequest.signal,
        trace: () => pageRequest.info.trace,
        traceTargets,
        traceHeaders,
        info: pageRequest.info,
      });
      // A log of the product's own stays.
      return { log, ...own, fetch: contextFetch };
    }
  }

  /** The 404 route shows URLs that match no page. */
  function toNowhere(request: ExpressRequest, response: ExpressResponse): Asked {
    const { path, target } = requestInfo(request);
    return { request, response, match: notFoundMatch, path, search: target.slice(path.length) };
  }

  /**
   * Answers with a static page from the cache, and with any other by `send`. A static page that cannot be cached, such
   * as a redirect, is sent like a dynamic one, and ends when its visitor leaves.
   */
  async function answerGet(
    exchange: PageExchange,
    send: (exchange: PageExchange) => Promise<void>,
    sendKept: (exchange: PageExchange, page: KeptPage) => void,
  ): Promise<void> {
    const { pageRequest } = exchange;
    if (pageRequest.match.mode !== 'static') return send(exchange);
    const kept = await getKeptPage(services, toShared(pageRequest));
    if (kept) return sendKept(exchange, kept);
    const unkept = toShared(pageRequest, pageRequest.method);
    pageRequest.onAbort((reason) => unkept.abort(reason));
    if (pageRequest.endedBy) unkept.abort(pageRequest.endedBy);
    return send({ ...exchange, pageRequest: unkept });
  }

  function toShared(pageRequest: PageRequest, method = 'GET'): PageRequest {
    const search = toSharedSearch(pageRequest.match, pageRequest.search);
    return new SharedPageRequest(pageRequest, {
      search,
      method,
      createArgs({ signal, match, path }) {
        const contextFetch = createContextFetch({
          signal: () => signal,
          trace: () => undefined,
          traceTargets,
          traceHeaders,
        });
        const url = services.sharedOrigin + path + search;
        const { mode, params } = match;
        const own = { fetch: contextFetch, log };
        return toSharedArgs({ mode, url, params, signal, own, shared: options.sharedContext });
      },
    });
  }

  return {
    kept(req, res, next) {
      const info = requestInfo(req);
      const isRead = req.method === 'GET' || req.method === 'HEAD';
      const page = isRead && !info.showsTimings ? services.cache.getFresh(info.target) : undefined;
      if (!page) {
        beginShell({ services, response: res });
        return next();
      }
      info.route = page.route;
      sendKeptPage({ services, response: res }, page);
    },

    async data(request, response, next) {
      const info = requestInfo(request);
      const path = toPageUrl(info.path, base);
      if (path === undefined) return next();
      if (request.method === 'OPTIONS') return sendAllowed(response, READ_METHODS);
      if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed(READ_METHODS);
      const match = services.matchPage(path);
      if (!match) return sendNotPage({ services, response });
      const asked = info.target.slice(info.path.length);
      const search = withoutKey(asked, HOLES_KEY);
      await serve({ request, response, match, path, search, wantsHoles: search !== asked }, (exchange) =>
        answerGet(exchange, sendPageData, sendKeptData),
      );
    },

    async pages(request, response, next) {
      const info = requestInfo(request);
      const { path } = info;
      const match = services.matchPage(path);
      if (!match) {
        const canonical = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : undefined;
        if (!canonical || !services.matchPage(canonical)) return next();
        const location = canonical + info.target.slice(path.length);
        return sendRedirect({ services, response }, { status: 308, location });
      }
      if (request.method === 'OPTIONS') return sendAllowed(response, toAllowed(services, match));
      const isPost = request.method === 'POST';
      const search = info.target.slice(path.length);
      await serve({ request, response, match, path, search, readsForm: isPost }, (exchange) => {
        if (isPost) return postAction(exchange);
        if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed(toAllowed(services, match));
        return answerGet(exchange, showPage, sendKeptPage);
      });
    },

    async notFound(request, response) {
      // A layout around it can have the form. Behind an existing app its origin has not been checked yet.
      const isPost = request.method === 'POST' && isForm(request) && isOfThisSite(request, origins);
      await serve({ ...toNowhere(request, response), readsForm: isPost }, isPost ? postAction : showPage);
    },

    async renderError(request, response, error) {
      await serve(toNowhere(request, response), async (exchange) => {
        const failed = { routeId: NOT_FOUND_ROUTE, error };
        const loaded = await loadPage({ services, pageRequest: exchange.pageRequest, failed });
        if (loaded.kind === 'page') await sendDocument(exchange, loaded);
        else if (loaded.kind === 'redirect') sendRedirect(exchange, loaded);
      });
    },

    acceptsPostsFrom(path, origin) {
      const ids = services.matchPage(path)?.ids ?? [];
      return ids.some((id) => services.pages[id]?.acceptPostsFrom?.includes(origin) ?? false);
    },

    isPage(path) {
      return services.matchPage(toPageUrl(path, base) ?? path) !== undefined;
    },

    isRendered(path) {
      const match = services.matchPage(toPageUrl(path, base) ?? path);
      return match !== undefined && match.mode !== 'static';
    },
  };
}

async function loadModules(
  definitions: ReadonlyMap<string, RouteDefinition>,
  family = 'product',
): Promise<Map<string, PageModule>> {
  const loading = [...definitions.values()].map(async ({ id, page }) => [id, await page()] as const);
  const modules = new Map(await Promise.all(loading));
  for (const [id, module] of modules) {
    if (module.default) continue;
    throw new WiringError(
      `The page "${id}" does not export a component as its default. src/shared/${family}/routes.tsx names its file.`,
    );
  }
  return modules;
}
