import type { IncomingMessage, RequestListener } from 'node:http';
import type { Request, RequestHandler } from 'express';
import type { Logger } from 'pino';
import { mountProductsApi, type SiteApi } from './api/mount-api.ts';
import { apiNotFound, unclaimedMethods } from './api/resource.ts';
import { oneAtATime } from './connection/http-server.ts';
import { lateWrites } from './connection/late-writes.ts';
import type { ProductReporting } from './define-product.ts';
import { errorHandler } from './errors/error-handler.ts';
import type { Funnel } from './errors/funnel.ts';
import type { ScrubPath } from './errors/scrub/secret-path.ts';
import { accessLog } from './front/access-log.ts';
import { apiOrigins } from './front/api-origins.ts';
import { type AssetsOptions, assets } from './front/assets.ts';
import { compress, compressResponse } from './front/compress.ts';
import { crossSite } from './front/cross-site.ts';
import { type LoadedApp, mountExistingApp } from './front/existing-app.ts';
import { type FixedPaths, fixedPaths, health, type Readiness } from './front/fixed-paths.ts';
import { hostCheck } from './front/host-check.ts';
import { type InFlight, recordInFlight } from './front/in-flight.ts';
import type { Metrics } from './front/metrics.ts';
import { normalizeUrl } from './front/normalize-url.ts';
import { type Overload, shed } from './front/overload.ts';
import type { PublicFile } from './front/public-files.ts';
import { securityHeaders, strictTransport, toPrivateCaching, toSecurityHeaders } from './front/security-headers.ts';
import { knowSignedIn, visitorId } from './front/visitor.ts';
import type { PageSteps } from './pages/page-handlers.ts';
import type { ProxyTrust } from './request/client-address.ts';
import type { Origins } from './request/origins.ts';
import { isApiPath, isTakenPath, onlyFor } from './request/paths.ts';
import { inRouter, productStep, runsAlone } from './request/product-step.ts';
import { createExpress } from './request/proxy-trust.ts';
import { inContext, requestId, requestInfo } from './request/request-info.ts';
import { recordPatterns } from './request/route-patterns.ts';
import { chain, type ErrorHandler, intoExpress, isRead, type Step } from './request/step.ts';
import { findTracer, tracing } from './request/tracing.ts';

/** What the steps of one port use. */
export interface PortParts {
  /** Which requests are accepted, and as whose. */
  readonly rules: {
    readonly origins: Origins;
    readonly trust: ProxyTrust;
    /** Removes credentials of the tracker from each request, before the product sees it. */
    readonly takeCredentials: Step;
    /** Whether a path belongs to the tracker, on this port or on the other. */
    readonly isTrackers: (path: string) => boolean;
  };
  /** Where requests and failures are recorded. */
  readonly records: {
    readonly log: Logger;
    readonly funnel: Funnel;
    readonly scrubPath: ScrubPath;
    readonly metrics?: Pick<Metrics, 'count' | 'observeRequest'>;
    readonly inFlight?: InFlight;
  };
  /** What is answered before any page. */
  readonly answers: {
    readonly readiness: Readiness;
    /** Answers `/metrics` and `/_check`. */
    readonly fixed?: readonly FixedPaths[];
    /** The files of the client, by path. */
    readonly files: ReadonlyMap<string, PublicFile>;
    /** Finds assets of earlier builds. */
    readonly findOldAsset?: AssetsOptions['findOldAsset'];
    readonly scriptPolicy?: AssetsOptions['scriptPolicy'];
    readonly compression?: boolean;
    /** Receives browser reports. `fail` answers if the tunnel itself fails. */
    readonly tunnel?: (fail: ErrorHandler) => Step;
    /** The path at which the tunnel receives the browser's own reports. */
    readonly reportPath?: string;
  };
}

export interface SiteParts {
  readonly pages: PageSteps;
  readonly api: SiteApi;
  /** The product's steps. They run before API and pages, and can guard them. */
  readonly steps: readonly RequestHandler[];
  /** The product's routes, for requests that are neither a page nor under `/api`. */
  readonly routes?: RequestHandler | undefined;
  /** An existing Express app. It gets the requests that nothing else answers, and keeps its own rules. */
  readonly existingApp?: LoadedApp | undefined;
  /** The product's function that identifies the visitor, for failures. */
  readonly visitorId?: ProductReporting['visitorId'] | undefined;
  /** Detects overload; undefined to refuse nothing. */
  readonly overload: Overload | undefined;
}

export interface TrackerParts {
  /** The path of its first page. */
  readonly home: string;
  readonly canOpen: (request: IncomingMessage) => false | Promise<boolean>;
  readonly handle: RequestHandler;
}

/**
 * Creates the list of steps that a request passes, from top to bottom. It has no side effects, so a test can create the
 * real app in one line.
 *
 * @param site undefined on DESK_PORT
 * @param tracker undefined if another port serves it. It runs before all product code
 * @param development `npm run dev`: notifies open pages of builds
 */
export function createApp(
  { rules, records, answers }: PortParts,
  site: SiteParts | undefined,
  tracker: TrackerParts | undefined,
  development?: RequestHandler,
): RequestListener {
  const { origins, trust, isTrackers } = rules;
  const { log, funnel, scrubPath, metrics, inFlight } = records;
  const { files, reportPath } = answers;
  const fail = errorHandler({ funnel, renderError: site?.pages.renderError });
  const headers = toSecurityHeaders(origins);
  const inner = createExpress(trust);
  const existing = site?.existingApp && mountExistingApp({ existing: site.existingApp, trust, headers, isReserved });
  const tracer = findTracer();
  const refuseCrossSite = crossSite({
    origins,
    isAccepted: site?.pages.acceptsPostsFrom,
    covers: existing && isOurs,
    takesTokens: isProductsApi,
    log: site && log,
  });
  const productSteps = site?.steps ?? [];
  /** Pages and operations are answered without Express, which costs 2 % of a page and a third of an operation. */
  const skipsExpress = site !== undefined && !development && productSteps.every(runsAlone);
  const isUnguarded = skipsExpress && productSteps.length === 0;
  const api =
    site &&
    mountProductsApi(site.api, {
      app: inner,
      covers: isProductsApi,
      compress: isUnguarded && answers.compression ? compressResponse : undefined,
    });
  const onErrorInExpress = [existing?.giveHeadersToErrors, fail].filter(isPresent);
  const handlers = [...productSteps, site?.routes, site?.existingApp?.app];
  for (const handle of handlers.filter(isPresent)) recordPatterns(handle);

  const steps = [
    // Express's router reads the request line before any of its own steps, so these are in front of it.
    oneAtATime(),
    requestId({ origins, trust, toLanguage: site?.pages.toLanguage }),
    rules.takeCredentials,
    site?.visitorId && visitorId(site.visitorId, log),
    accessLog({ log, inFlight, scrubPath, metrics }),
    securityHeaders(headers),
    normalizeUrl(existing && { isReserved, rawPaths: site?.existingApp?.rawPaths }),
    fixedPaths([health(answers.readiness), ...(answers.fixed ?? [])]),
    hostCheck({ origins, trust, log }),
    tracer && tracing(tracer, scrubPath),
    strictTransport(reportPath),
    site?.api.origins?.length &&
      apiOrigins(site.api.origins, (path) => isProductsApi(path) && (!existing || isOurs(path))),
    // Before everything that reads bodies. The tunnel has its own cross-site check.
    answers.tunnel?.(fail),
    assets({
      files,
      findOldAsset: answers.findOldAsset,
      scriptPolicy: answers.scriptPolicy,
      passesOn: existing !== undefined,
    }),
    // First, so that the log of a refused request shows no secret of its path.
    api?.named,
    // Everything above is cheap, so it is answered even during overload.
    site?.overload &&
      shed({
        overload: site.overload,
        isRendered: site.pages.isRendered,
        isExempt: (path) => tracker !== undefined && isTrackers(path),
        count: metrics?.count,
      }),
    site && tracker && knowSignedIn(tracker.canOpen, isTrackers),
    inFlight && recordInFlight(inFlight, scrubPath),
    existing?.takeHeaders,
    // Before anything with side effects, and before the body is read.
    refuseCrossSite,
    isUnguarded && site.pages.inMemory,
    inContext,
    isUnguarded && api?.operations,
    answers.compression && compress,
    lateWrites(funnel),
    ...(skipsExpress && !isUnguarded
      ? [
          unlessTrackers(site.pages.keepCookiesPrivate),
          ...productSteps.map((step) => unlessTrackers(productStep(step, inner, existing?.giveHeadersToErrors))),
          unlessTrackers(site.pages.inMemory),
          api?.operations,
        ]
      : []),
    skipsExpress && site.pages.visitors(inner, (path) => isTakenPath(path) || isTrackers(path)),
    inExpress([
      development,
      tracker && onlyFor(isTrackers, tracker.handle),
      ...(skipsExpress ? [] : [site?.pages.keepCookiesPrivate, ...productSteps.flatMap(inRouter), api?.operations]),
      api?.handlers,
      site?.pages.data,
      site?.pages.pages,
      site?.routes && existing?.giveHeaders,
      site?.routes && ownRoutes(site.routes),
      existing?.run,
      existing?.giveHeaders,
      existing && refuseCrossSite,
      tracker && !site && redirectHome(tracker.home),
      site && apiNotFound(),
      site && !existing && unclaimedMethods(),
      site?.pages.notFound,
    ]),
  ];
  return chain(steps.filter(isPresent), fail);

  /** The end of the list: the handlers that Express runs, and the branch for their errors. */
  function inExpress(handlers: readonly Optional<RequestHandler | Step>[]): Step {
    for (const step of [...handlers.filter(isPresent), ...onErrorInExpress]) inner.use(step);
    const run = intoExpress(inner, fail);
    return (req, res) => {
      requestInfo(req).express = req as Request;
      run(req, res);
    };
  }

  /** The tracker answers before all product code, in Express. */
  function unlessTrackers(step: Step): Step {
    return (req, res, next) => (isTrackers(requestInfo(req).path) ? next() : step(req, res, next));
  }

  /** With an existing app, these paths follow our rules, and all others follow the app's. */
  function isReserved(path: string): boolean {
    return (
      isTakenPath(path) || isTrackers(path) || path === reportPath || files.has(path) || !!site?.pages.isPage(path)
    );
  }

  /** The app also keeps its rules below `/api`, for paths that nothing of the product's API can answer. */
  function isOurs(path: string): boolean {
    return isReserved(path) && (!isProductsApi(path) || !!site?.pages.isPage(path) || !!api?.canAnswer(path));
  }

  function isProductsApi(path: string): boolean {
    return isApiPath(path) && !isTrackers(path);
  }
}

/**
 * Runs the product's routes, and leaves posts of other sites to the existing app. A response without `Cache-Control` is
 * private: a CDN can keep every `.csv` or `.pdf` that does not say so.
 */
function ownRoutes(handle: RequestHandler): RequestHandler {
  return function ownRoutes(req, res, next) {
    if (requestInfo(req).isCrossSite) return next();
    const { writeHead } = res;
    // Late, because `express.static()` keeps a header that is there already.
    res.writeHead = function withCaching(...args: Parameters<typeof writeHead>) {
      if (!res.hasHeader('Cache-Control')) res.setHeader('Cache-Control', toPrivateCaching(req));
      return Reflect.apply(writeHead, res, args);
    } as typeof writeHead;
    return handle(req, res, (error?: unknown) => {
      res.writeHead = writeHead;
      next(error);
    });
  };
}

function redirectHome(home: string): RequestHandler {
  return function redirectHome(req, res, next) {
    if (requestInfo(req).path !== '/' || !isRead(req)) return next();
    res.set('Cache-Control', 'no-store').redirect(302, home);
  };
}

type Optional<T> = T | undefined | false | 0;

function isPresent<T>(step: Optional<T>): step is T {
  return Boolean(step);
}
