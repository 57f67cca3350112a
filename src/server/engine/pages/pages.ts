import type { Request as ExpressRequest, Response as ExpressResponse, RequestHandler } from 'express';
import type { ComponentType } from 'react';
import type { DocumentProps } from '../../../shared/engine/document.ts';
import type { ErrorPages } from '../../../shared/engine/engine-context.ts';
import { MAX_ACTION_BYTES } from '../../../shared/engine/limits.ts';
import type { AssetManifest } from '../../../shared/engine/manifest.ts';
import type { PageError } from '../../../shared/engine/payload.ts';
import { DATA_PREFIX, NOT_FOUND_ROUTE } from '../../../shared/engine/protocol.ts';
import { createRouteTree } from '../../../shared/engine/route-objects.ts';
import type { PageModule, RouteDefinition } from '../../../shared/engine/routes.ts';
import { MiB, Second } from '../../../shared/units.ts';
import type { Funnel } from '../errors/funnel.ts';
import { methodNotAllowed } from '../errors/http-error.ts';
import type { ContentPolicy } from '../http/content-policy.ts';
import type { Origins } from '../http/origins.ts';
import { requestInfo } from '../http/request-info.ts';
import { createContextFetch } from './context-fetch.ts';
import { loadPage, type PageTable } from './load-page.ts';
import { createMatcher, matchNotFound, type PageMatch } from './match-page.ts';
import { sendNotPage, sendPageData } from './page-data.ts';
import { type PageHouse, sendRedirect } from './page-house.ts';
import { postAction } from './post-action.ts';
import type { EngineContext } from './server-page.ts';
import { toSharedArgs } from './shared-args.ts';
import { sendDocument, showPage } from './show-page.ts';
import { createStaticCache } from './static-cache.ts';
import { getKeptPage, sendKeptData, sendKeptPage, toSharedSearch } from './static-page.ts';
import { RequestVisit, SharedVisit, type Visit } from './visit.ts';

export interface PagesOptions {
  readonly routes: readonly RouteDefinition[];
  /** The server halves, by route id. */
  readonly pages: PageTable;
  readonly document: ComponentType<DocumentProps>;
  readonly errorPages: ErrorPages;
  readonly manifest: AssetManifest;
  readonly funnel: Funnel;
  readonly policy: ContentPolicy;
  readonly origins: Origins;
  /** What the owner adds to the `context` of loaders, guards and actions. */
  readonly createContext?: (request: ExpressRequest, response: ExpressResponse) => object | Promise<object>;
  readonly lang?: string;
  /** Origins to which `context.fetch` sends trace headers. */
  readonly traceTargets?: readonly string[];
  /** How long a page may take from its shell to its last late value (ms). */
  readonly deadlineMs?: number;
  /** Largest form that an action takes (bytes). */
  readonly maxActionBytes?: number;
}

/** The page steps of an app, in the order in which they belong into it. */
export interface PageSteps {
  /** GET and HEAD of `/_data…`. */
  readonly data: RequestHandler;
  /** GET, HEAD and POST of pages; passes on what is none. */
  readonly pages: RequestHandler;
  /** The page for an address that nobody claimed. */
  readonly notFound: RequestHandler;
  /** The owner's page for an error that was thrown outside the pages. */
  readonly renderError: (request: ExpressRequest, response: ExpressResponse, error: PageError) => Promise<void>;
  /** Whether a page takes form posts from a foreign origin (`acceptPostsFrom`). */
  readonly acceptsPostsFrom: (path: string, origin: string) => boolean;
}

const RENDER_DEADLINE = 15 * Second;

/** Static pages in memory: HTML and data together (bytes). */
const STATIC_CACHE_BYTES = 64 * MiB;

/** Loads the modules of all pages, and makes the steps that serve them. */
export async function createPages(options: PagesOptions): Promise<PageSteps> {
  const tree = createRouteTree(options.routes);
  const { funnel, origins } = options;
  const house: PageHouse = {
    tree,
    matchPage: createMatcher(tree),
    pages: options.pages,
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
    deadlineMs: options.deadlineMs ?? RENDER_DEADLINE,
    maxActionBytes: options.maxActionBytes ?? MAX_ACTION_BYTES,
  };
  const notFoundMatch = matchNotFound(tree);
  const { traceTargets = [], createContext } = options;

  function open(
    request: ExpressRequest,
    response: ExpressResponse,
    match: PageMatch,
    path: string,
    search: string,
  ): Visit {
    const { deadlineMs } = house;
    return new RequestVisit({ request, response, match, path, search, deadlineMs, createContext: toContext });

    async function toContext(visit: Visit): Promise<EngineContext> {
      const own = await createContext?.(request, response);
      const contextFetch = createContextFetch({
        signal: () => visit.signal,
        trace: () => visit.info.trace,
        traceTargets,
      });
      return { ...own, fetch: contextFetch };
    }
  }

  function toShared(visit: Visit, method = 'GET'): Visit {
    const search = toSharedSearch(visit.match, visit.search);
    return new SharedVisit(visit, {
      search,
      method,
      createArgs({ signal, match, path }) {
        const contextFetch = createContextFetch({ signal: () => signal, trace: () => undefined, traceTargets });
        return toSharedArgs(house.sharedOrigin + path + search, match.params, signal, contextFetch);
      },
    });
  }

  return {
    async data(request, response, next) {
      const info = requestInfo(request);
      if (info.path !== DATA_PREFIX && !info.path.startsWith(`${DATA_PREFIX}/`)) return next();
      if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed('GET, HEAD');
      const path = info.path.slice(DATA_PREFIX.length) || '/';
      const match = house.matchPage(path);
      if (!match) return sendNotPage(house, response);
      const visit = open(request, response, match, path, info.target.slice(info.path.length));
      if (match.mode === 'static') {
        const kept = await getKeptPage(house, toShared(visit));
        if (kept) return sendKeptData(house, kept, request, response);
        return sendPageData(house, toShared(visit, visit.method), request, response);
      }
      return sendPageData(house, visit, request, response);
    },

    async pages(request, response, next) {
      const info = requestInfo(request);
      const { path } = info;
      const match = house.matchPage(path);
      if (!match) {
        const canonical = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : undefined;
        if (!canonical || !house.matchPage(canonical)) return next();
        return sendRedirect(response, house, 308, canonical + info.target.slice(path.length));
      }
      const visit = open(request, response, match, path, info.target.slice(path.length));
      if (request.method === 'POST') return postAction(house, visit, request, response);
      if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed('GET, HEAD, POST');
      if (match.mode !== 'static') return showPage(house, visit, response);

      const shared = toShared(visit);
      const kept = await getKeptPage(house, shared);
      if (kept) return sendKeptPage(house, kept, request, response);
      return showPage(house, toShared(visit, visit.method), response);
    },

    async notFound(request, response) {
      const info = requestInfo(request);
      await showPage(
        house,
        open(request, response, notFoundMatch, info.path, info.target.slice(info.path.length)),
        response,
      );
    },

    async renderError(request, response, error) {
      const info = requestInfo(request);
      const visit = open(request, response, notFoundMatch, info.path, info.target.slice(info.path.length));
      const loaded = await loadPage({ visit, pages: house.pages, funnel, failed: { routeId: NOT_FOUND_ROUTE, error } });
      if (loaded.kind === 'page') await sendDocument(house, visit, response, loaded);
      else if (loaded.kind === 'redirect') sendRedirect(response, house, loaded.status, loaded.location);
    },

    acceptsPostsFrom(path, origin) {
      const ids = house.matchPage(path)?.ids ?? [];
      return ids.some((id) => house.pages[id]?.acceptPostsFrom?.includes(origin) ?? false);
    },
  };
}

async function loadModules(definitions: ReadonlyMap<string, RouteDefinition>): Promise<Map<string, PageModule>> {
  const loading = [...definitions.values()].map(async ({ id, page }) => [id, await page()] as const);
  return new Map(await Promise.all(loading));
}
