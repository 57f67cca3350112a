import type { RequestListener } from 'node:http';
import type { RequestHandler } from 'express';
import type { ApiStore } from './api/api-store.ts';
import { type ApiParts, mountApi } from './api/mount-api.ts';
import type { DocumentFacts } from './api/openapi.ts';
import { apiNotFound, unclaimedMethods } from './api/resource.ts';
import { expectContinue } from './connection/http-server.ts';
import { lateWrites } from './connection/late-writes.ts';
import { isDestinationPath } from './destination-settings.ts';
import { errorHandler } from './errors/error-handler.ts';
import type { Funnel } from './errors/funnel.ts';
import { createExpress, type FirstStepsDeps, firstSteps } from './first-steps.ts';
import { type ApiOrigins, apiOrigins } from './front/api-origins.ts';
import { type AssetsOptions, assets } from './front/assets.ts';
import { compress } from './front/compress.ts';
import { crossSite } from './front/cross-site.ts';
import { type LoadedApp, mountExistingApp } from './front/existing-app.ts';
import type { Metrics } from './front/metrics.ts';
import { type Overload, shed } from './front/overload.ts';
import type { PublicFile } from './front/public-files.ts';
import { privateReplies, toSecurityHeaders } from './front/security-headers.ts';
import type { PageSteps } from './pages/page-handlers.ts';
import { isApiPath, isTakenPath, seenAsPage } from './request/paths.ts';
import { requestInfo } from './request/request-info.ts';
import { chain, dropClosed, type ErrorHandler, intoExpress, type Step } from './request/step.ts';

export interface AppDeps extends FirstStepsDeps {
  readonly funnel: Funnel;
  readonly files: ReadonlyMap<string, PublicFile>;
  /** Finds assets of earlier builds. */
  readonly findOldAsset?: AssetsOptions['findOldAsset'];
  readonly pages: PageSteps;
  readonly api?: ApiParts | undefined;
  readonly apiDocument?: DocumentFacts | false | undefined;
  readonly apiStore?: ApiStore | undefined;
  /** Other origins whose scripts can call the product's API. */
  readonly apiOrigins?: ApiOrigins | undefined;
  readonly compression?: boolean;
  readonly metrics?: Pick<Metrics, 'count' | 'observeRequest'>;
  /** Detects overload; undefined to refuse nothing. */
  readonly overload: Overload | undefined;
  /** Receives browser reports. `fail` answers if the tunnel itself fails. */
  readonly tunnel?: (fail: ErrorHandler) => Step;
  /** What operators see. It runs before all product code. */
  readonly operators?: OperatorApp | undefined;
  /** `npm run dev`: notifies open pages of builds. */
  readonly development?: RequestHandler;
  /** The product's steps. They run before API and pages, and can guard them. */
  readonly steps: readonly RequestHandler[];
  /** The product's routes, for requests that are neither a page nor under `/api`. */
  readonly routes?: RequestHandler | undefined;
  /** An existing Express app. It gets the requests that nothing else answers, and keeps its own rules. */
  readonly existingApp?: LoadedApp | undefined;
}

/** What operators see on the site's port. */
export interface OperatorApp {
  /** Whether a path is theirs. Such requests are answered under load. */
  readonly covers: (path: string) => boolean;
  /** Records in each request whether its visitor is an operator. */
  readonly knowOperator: Step;
  /** Answers their paths, and passes other requests on. */
  readonly step: RequestHandler;
}

/**
 * Creates the list of steps that a request passes, in order. It has no side effects, so a test can create the real app
 * in one line.
 */
export function createApp(deps: AppDeps): RequestListener {
  const { log, funnel, origins, trust, files, pages } = deps;
  const fail = errorHandler({ funnel, renderError: pages.renderError });
  const count = deps.metrics?.count;
  const headers = toSecurityHeaders(origins);
  const existing = deps.existingApp && mountExistingApp({ existing: deps.existingApp, trust, headers, isReserved });
  const app = createExpress(trust).enable('case sensitive routing'); // for `/api`, as for operations
  const document = deps.apiDocument ?? { title: 'API', version: '1' };
  const api = mountApi(deps.api ?? [], { app, base: '/api', document, store: deps.apiStore });
  const setPrivate = privateReplies();

  const front = [
    ...firstSteps(deps, existing && { isReserved, rawPaths: deps.existingApp?.rawPaths }),
    ...(deps.apiOrigins?.length ? [apiOrigins(deps.apiOrigins, isProductsApi)] : []),
    // Before everything that reads bodies. The tunnel has its own cross-site check.
    ...(deps.tunnel ? [deps.tunnel(fail)] : []),
    assets({ files, findOldAsset: deps.findOldAsset, passesOn: existing !== undefined }),
    // Everything above is cheap, so it is answered even during overload.
    ...(deps.overload
      ? [shed({ overload: deps.overload, isRendered: pages.isRendered, isExempt: isForOperators, count })]
      : []),
    ...(deps.operators ? [deps.operators.knowOperator] : []),
    ...(existing ? [existing.takeHeaders] : []),
    // Before anything with side effects, and before the body is read.
    crossSite({
      origins,
      isAccepted: pages.acceptsPostsFrom,
      covers: existing && isReserved,
      takesTokens: isProductsApi,
      log,
    }),
    expectContinue(),
    ...(deps.compression ? [compress()] : []),
    lateWrites({ funnel }),
    // Express costs such an answer a third of its time, so it runs only if the product has steps for it.
    ...(deps.steps.length === 0 ? [productsApi, pages.kept] : []),
  ];

  if (deps.development) app.use(deps.development);
  if (deps.operators) app.use(deps.operators.step);
  for (const step of deps.steps) app.use(seenAsPage(step), dropClosed());
  if (deps.steps.length > 0) app.use(productsApi);
  if (api.handlers.length > 0) app.use('/api', ...api.handlers);
  app.use(pages.data);
  app.use(pages.pages);
  if (deps.routes) app.use(...(existing ? [existing.giveHeaders] : []), deps.routes);
  if (existing) app.use(existing.run, existing.giveHeaders);
  app.use(apiNotFound());
  if (!existing) app.use(unclaimedMethods());
  app.use(pages.notFound);
  if (existing) app.use(existing.giveHeadersToErrors);
  app.use(fail);

  function productsApi(...[req, res, next]: Parameters<Step>): void | Promise<void> {
    if (!isProductsApi(requestInfo(req).path)) return next();
    setPrivate(req, res, () => undefined);
    return api.operations(req, res, next);
  }

  /** With an existing app, these paths follow our rules, and all others follow the app's. */
  function isReserved(path: string): boolean {
    return (
      isTakenPath(path) || isDestinationPath(path) || path === deps.reportPath || files.has(path) || pages.isPage(path)
    );
  }

  function isProductsApi(path: string): boolean {
    return isApiPath(path) && !isDestinationPath(path);
  }

  function isForOperators(path: string): boolean {
    return deps.operators?.covers(path) ?? false;
  }

  return chain(front, intoExpress(app, fail), fail);
}
