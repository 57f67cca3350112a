import type { Request as ExpressRequest, Response as ExpressResponse, RequestHandler } from 'express';
import type { ComponentType } from 'react';
import { MAX_ACTION_BYTES } from '../../../shared/engine/limits.ts';
import type { DocumentProps } from '../../../shared/engine/rendering/document.ts';
import type { ErrorPages } from '../../../shared/engine/rendering/engine-context.ts';
import { createRouteTree } from '../../../shared/engine/routing/route-objects.ts';
import type { PageModule, RouteDefinition } from '../../../shared/engine/routing/routes.ts';
import type { AssetManifest } from '../../../shared/engine/wire/manifest.ts';
import type { PageError } from '../../../shared/engine/wire/payload.ts';
import { NOT_FOUND_ROUTE } from '../../../shared/engine/wire/protocol.ts';
import { MiB, Second } from '../../../shared/units.ts';
import type { BodyReader } from '../api/body-reader.ts';
import type { Funnel } from '../errors/funnel.ts';
import { methodNotAllowed } from '../errors/http-error.ts';
import type { ContentPolicy } from '../protection/content-policy.ts';
import { isOfThisSite } from '../protection/cross-site.ts';
import type { Origins } from '../protection/origins.ts';
import type { RenderLimiter } from '../protection/render-limiter.ts';
import { sendAllowed } from '../request/refuse.ts';
import { requestInfo } from '../request/request-info.ts';
import { createTraceHeaders, type TracedProject } from '../request/trace-headers.ts';
import { createContextFetch } from './context-fetch.ts';
import { isForm } from './form-body.ts';
import { loadPage, type PageTable } from './load-page.ts';
import { createMatcher, matchNotFound } from './match-page.ts';
import { sendNotPage, sendPageData } from './page-data.ts';
import { type PageRequest, type PageRequestOptions, SharedPageRequest, VisitorPageRequest } from './page-request.ts';
import { type PageExchange, type PageServices, READ_METHODS, sendRedirect, toAllowed } from './page-services.ts';
import { toPageUrl } from './page-url.ts';
import { postAction } from './post-action.ts';
import type { EngineContext } from './server-page.ts';
import { toSharedArgs } from './shared-args.ts';
import { sendDocument, showPage } from './show-page.ts';
import { createStaticCache, type KeptPage } from './static-cache.ts';
import { getKeptPage, sendKeptData, sendKeptPage, toSharedSearch } from './static-page.ts';
import { requireBothHalves } from './wiring.ts';

export interface PagesOptions<Own extends object = object> {
  readonly routes: readonly RouteDefinition[];
  /** The server halves, by route id. */
  readonly pages: PageTable<EngineContext & NoInfer<Own>>;
  readonly document: ComponentType<DocumentProps>;
  readonly errorPages: ErrorPages;
  readonly manifest: AssetManifest;
  readonly funnel: Funnel;
  readonly policy: ContentPolicy;
  readonly origins: Origins;
  /** What the owner adds to the `context` of loaders, guards and actions. */
  readonly createContext?: (request: ExpressRequest, response: ExpressResponse) => Own | Promise<Own>;
  /** What of that is the same for everyone, such as settings: static pages can read it too. */
  readonly sharedContext?: object;
  readonly lang?: string;
  /** Visitors may say something of a failure: the page that needs nothing has the form for it. */
  readonly takesFeedback?: boolean;
  /** Answers with `no-store`, whatever they are; a page that is open still asks by `ETag` whether it holds. */
  readonly isSecret: boolean;
  /** The folder of the tables, for the words of a mistake in them; `product` by default. */
  readonly family?: string;
  /** The path that all pages of the table share, and their data with them (`/desk`); none by default. */
  readonly base?: string;
  /** Keep static pages compressed too. */
  readonly compression?: boolean;
  /** Origins to which `context.fetch` sends trace headers. */
  readonly traceTargets: readonly string[];
  /** What such headers name beside the trace. */
  readonly traced?: TracedProject;
  /** How long a page may take up to its last deferred value (ms). */
  readonly deadlineMs?: number;
  /** Where renders wait for each other, and pages in progress are counted; undefined to begin each at once. */
  readonly limiter: RenderLimiter | undefined;
  /** Reads the forms that actions take. */
  readonly bodies: BodyReader;
  /** Largest form that an action takes (bytes). */
  readonly maxActionBytes?: number;
}

interface Asked extends Pick<PageRequestOptions, 'request' | 'response' | 'match' | 'path' | 'search'> {
  /** A form counts among the pages in progress once it has arrived: its sender decides how long that takes. */
  readonly readsForm?: boolean;
}

/** The page steps of an app, in the order in which they belong into it. */
export interface PageSteps {
  /** GET and HEAD of `/_data…`. */
  readonly data: RequestHandler;
  /** GET, HEAD and POST of pages; passes on what is none. */
  readonly pages: RequestHandler;
  /** The page for an address that nobody claimed; takes the forms of the layouts around it. */
  readonly notFound: RequestHandler;
  /** The owner's page for an error that was thrown outside the pages. */
  readonly renderError: (request: ExpressRequest, response: ExpressResponse, error: PageError) => Promise<void>;
  /** Whether a page takes form posts from a foreign origin (`acceptPostsFrom`). */
  readonly acceptsPostsFrom: (path: string, origin: string) => boolean;
  /** Whether a canonical path is that of a page of the table, or of its page data. */
  readonly isPage: (path: string) => boolean;
  /** The same of one that is rendered for each request. */
  readonly isRendered: (path: string) => boolean;
}

const RENDER_DEADLINE = 15 * Second;

/** Static pages in memory: HTML and data together (bytes). */
const STATIC_CACHE_BYTES = 64 * MiB;

/**
 * Loads the modules of all pages, and makes the steps that serve them.
 *
 * @throws WiringError where a route or a server half lacks the other one
 */
export async function createPages<Own extends object = object>(options: PagesOptions<Own>): Promise<PageSteps> {
  const tree = createRouteTree(options.routes);
  const pages = options.pages as PageTable; // they are called with what toContext() makes
  requireBothHalves(tree.definitions.keys(), pages, options.family);
  const { funnel, origins, base = '' } = options;
  const services: PageServices = {
    tree,
    matchPage: createMatcher(tree),
    pages,
    modules: await loadModules(tree.definitions),
    document: options.document,
    errorPages: options.errorPages,
    lang: options.lang ?? 'en',
    manifest: options.manifest,
    funnel,
    policy: options.policy,
    cache: createStaticCache({
      maxBytes: STATIC_CACHE_BYTES,
      onRefreshFailed: (error) => void funnel.fail(error, { origin: 'render' }),
    }),
    sharedOrigin: origins.fallback,
    hasOneHost: new Set(origins.configured.map((origin) => new URL(origin).host)).size === 1,
    compresses: options.compression ?? false,
    takesFeedback: options.takesFeedback ?? false,
    isSecret: options.isSecret,
    deadlineMs: options.deadlineMs ?? RENDER_DEADLINE,
    limiter: options.limiter,
    bodies: options.bodies,
    maxActionBytes: options.maxActionBytes ?? MAX_ACTION_BYTES,
  };
  const notFoundMatch = matchNotFound(tree);
  const { traceTargets, createContext } = options;
  const traceHeaders = createTraceHeaders(options.traced ?? {});

  /**
   * Answers one request for a page. Every such request begins and ends here. It counts among the pages in
   * progress until its shell is sent. If that never happens, the count ends with `answer`, the response or the
   * deadline, whichever comes first. If the client left during an earlier step, nothing begins.
   */
  async function serve(asked: Asked, answer: (exchange: PageExchange) => unknown): Promise<void> {
    const { request, response, readsForm = false } = asked;
    if (response.closed) return;
    const { deadlineMs, limiter } = services;
    const pageRequest = new VisitorPageRequest({ ...asked, deadlineMs, limiter, createContext: toContext });
    try {
      if (!readsForm) pageRequest.enter();
      await answer({ services, pageRequest, response });
    } finally {
      pageRequest.leave();
    }

    async function toContext(): Promise<EngineContext> {
      const own = await createContext?.(request, response);
      const contextFetch = createContextFetch({
        signal: () => pageRequest.signal,
        trace: () => pageRequest.info.trace,
        traceTargets,
        traceHeaders,
        info: pageRequest.info,
      });
      return { ...own, fetch: contextFetch };
    }
  }

  /** The 404 route shows addresses that match no page. */
  function toNowhere(request: ExpressRequest, response: ExpressResponse): Asked {
    const { path, target } = requestInfo(request);
    return { request, response, match: notFoundMatch, path, search: target.slice(path.length) };
  }

  /**
   * Answers with a static page out of the cache, and with any other by `send`. A static page that cannot be kept,
   * such as a redirect, is sent like a dynamic one, and ends when its visitor leaves.
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
        return toSharedArgs(
          services.sharedOrigin + path + search,
          match.params,
          signal,
          contextFetch,
          options.sharedContext,
        );
      },
    });
  }

  return {
    async data(request, response, next) {
      const info = requestInfo(request);
      const path = toPageUrl(info.path, base);
      if (path === undefined) return next();
      if (request.method === 'OPTIONS') return sendAllowed(response, READ_METHODS);
      if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed(READ_METHODS);
      const match = services.matchPage(path);
      if (!match) return sendNotPage({ services, response });
      const search = info.target.slice(info.path.length);
      await serve({ request, response, match, path, search }, (exchange) =>
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
      // A layout around it may own the form. Behind an existing app its origin has not been checked yet.
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

async function loadModules(definitions: ReadonlyMap<string, RouteDefinition>): Promise<Map<string, PageModule>> {
  const loading = [...definitions.values()].map(async ({ id, page }) => [id, await page()] as const);
  return new Map(await Promise.all(loading));
}
