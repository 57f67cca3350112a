import type { RequestListener } from 'node:http';
import express, { type RequestHandler } from 'express';
import type { Logger } from 'pino';
import { DESK_API_PATH, isDeskApiPath } from './desk/api/desk-api.ts';
import type { DeskPages } from './desk/pages/desk-pages.ts';
import { type ErrorHandler, errorHandler } from './engine/errors/error-handler.ts';
import type { Funnel } from './engine/errors/funnel.ts';
import { requestContext } from './engine/errors/request-context.ts';
import type { ScrubPath } from './engine/errors/scrub/secret-path.ts';
import { accessLog } from './engine/http/access-log.ts';
import { type ApiOrigins, apiOrigins } from './engine/http/api-origins.ts';
import { isApiPath, isTakenPath } from './engine/http/api-path.ts';
import { type AssetsOptions, assets } from './engine/http/assets.ts';
import { compress } from './engine/http/compress.ts';
import { crossSite } from './engine/http/cross-site.ts';
import { door } from './engine/http/door.ts';
import { type LoadedApp, mountExistingApp } from './engine/http/existing-app.ts';
import { expectContinue } from './engine/http/expect-continue.ts';
import { health, type Readiness } from './engine/http/health.ts';
import { hostCheck } from './engine/http/host-check.ts';
import type { InFlight } from './engine/http/in-flight.ts';
import { lateWrites } from './engine/http/late-writes.ts';
import { dropClosed } from './engine/http/on-close.ts';
import { oneAtATime } from './engine/http/one-at-a-time.ts';
import type { Origins } from './engine/http/origins.ts';
import type { Overload } from './engine/http/overload.ts';
import { privateReplies } from './engine/http/private-replies.ts';
import type { ProxyTrust } from './engine/http/proxy-trust.ts';
import type { PublicFile } from './engine/http/public-files.ts';
import { requestId } from './engine/http/request-id.ts';
import { apiNotFound, unclaimedMethods } from './engine/http/resource.ts';
import { securityHeaders, strictTransport, toSecurityHeaders } from './engine/http/security-headers.ts';
import { seenAsPage } from './engine/http/seen-as-page.ts';
import { shed } from './engine/http/shed.ts';
import { chain, intoExpress, type Step } from './engine/http/step.ts';
import { visitorId } from './engine/http/visitor-id.ts';
import type { Metrics } from './engine/metrics/metrics.ts';
import type { PageSteps } from './engine/pages/pages.ts';
import type { ProductReporting } from './engine/product.ts';

export interface AppDeps {
  readonly log: Logger;
  readonly funnel: Funnel;
  readonly origins: Origins;
  readonly trust: ProxyTrust;
  readonly readiness: Readiness;
  readonly files: ReadonlyMap<string, PublicFile>;
  /** Finds assets of earlier builds. */
  readonly findOldAsset?: AssetsOptions['findOldAsset'];
  /** Takes the desk's credentials off each request, before the product sees it. */
  readonly takeCredentials: Step;
  readonly pages: PageSteps;
  readonly api?: RequestHandler | undefined;
  /** The owner's: other origins whose scripts may call the API. */
  readonly apiOrigins?: ApiOrigins | undefined;
  readonly compression?: boolean;
  /** Holds the requests that are being answered. */
  readonly inFlight?: InFlight;
  readonly scrubPath: ScrubPath;
  readonly metrics?: Pick<Metrics, 'count' | 'observeRequest'>;
  /** Answers `/metrics`, where that is not on a listener of its own. */
  readonly metricsPage?: Step | undefined;
  /** Answers what `npm run doctor` asks, for those who may read it. */
  readonly doctorPage?: Step;
  /** Knows when there is too much to do; undefined to refuse nothing. */
  readonly overload: Overload | undefined;
  /** Where the tunnel takes the browser's own reports. */
  readonly reportPath?: string;
  /** Takes what browsers report; told how to answer where it fails itself. */
  readonly tunnel?: (fail: ErrorHandler) => Step;
  /** Where operators look, in front of all that is the owner's. */
  readonly desk?: DeskPages | undefined;
  /** The same for programs. */
  readonly deskApi?: RequestHandler | undefined;
  /** The owner's: whose request it is, for failures. */
  readonly visitorId?: ProductReporting['visitorId'] | undefined;
  /** Takes what visitors say of failures. */
  readonly feedback?: RequestHandler | undefined;
  /** `npm run dev`: what tells open pages of builds. */
  readonly development?: RequestHandler;
  /** The owner's, before API and pages, which they may guard. */
  readonly steps: readonly RequestHandler[];
  /** The owner's, for what is neither a page nor under `/api`. */
  readonly routes?: RequestHandler | undefined;
  /** An existing Express app. It gets the requests that nothing else answers, and keeps its own rules. */
  readonly existingApp?: LoadedApp | undefined;
}

/** The list of what happens to a request, in order. Has no side effects: a test builds the real app in one line. */
export function createApp(deps: AppDeps): RequestListener {
  const { log, funnel, origins, trust, readiness, files, pages } = deps;
  const fail = errorHandler({ funnel, renderError: pages.renderError, takesFeedback: deps.feedback !== undefined });
  const count = deps.metrics?.count;
  const headers = toSecurityHeaders(origins);
  const existing = deps.existingApp && mountExistingApp({ existing: deps.existingApp, trust, headers, isReserved });
  const app = express();
  app.disable('x-powered-by');
  app.set('trust proxy', trust);

  // In front of Express, whose router reads the request line before any step of its own can.
  const front = [
    oneAtATime(),
    requestId({ origins, trust }),
    deps.takeCredentials,
    requestContext(),
    ...(deps.visitorId ? [visitorId({ visitorId: deps.visitorId, log })] : []),
    accessLog({ log, inFlight: deps.inFlight, scrubPath: deps.scrubPath, metrics: deps.metrics }),
    securityHeaders(headers),
    door(existing && { isReserved, rawPaths: deps.existingApp?.rawPaths }),
    health({ readiness }),
    ...(deps.metricsPage ? [deps.metricsPage] : []),
    ...(deps.doctorPage ? [deps.doctorPage] : []),
    hostCheck({ origins, trust, log }),
    strictTransport({ reportPath: deps.reportPath }),
    ...(deps.apiOrigins?.length ? [apiOrigins(deps.apiOrigins, isProductsApi)] : []),
    // In front of whatever reads bodies; it has a cross-site check of its own.
    ...(deps.tunnel ? [deps.tunnel(fail)] : []),
    assets({ files, findOldAsset: deps.findOldAsset, passesOn: existing !== undefined }),
    // What is above is cheap, and is answered whatever happens.
    ...(deps.overload
      ? [shed({ overload: deps.overload, isRendered: pages.isRendered, isExempt: isForOperators, count })]
      : []),
    ...(deps.desk ? [deps.desk.knowOperator] : []),
    ...(existing ? [existing.takeHeaders] : []),
  ];

  // Before anything that could act, and before the body is read.
  const isAccepted = pages.acceptsPostsFrom;
  app.use(crossSite({ origins, isAccepted, covers: existing && isReserved, takesTokens: isProductsApi, log }));
  app.use(expectContinue());
  if (deps.feedback) app.use(deps.feedback);
  if (deps.development) app.use('/_dev', deps.development);
  if (deps.compression) app.use(compress());
  app.use(lateWrites({ funnel }));
  if (deps.desk) app.use(deps.desk.step);
  if (deps.deskApi) app.use(DESK_API_PATH, deps.deskApi);
  for (const step of deps.steps) app.use(seenAsPage(step), dropClosed());
  app.use('/api', privateReplies(), ...(deps.api ? [deps.api] : []));
  app.use(pages.data);
  app.use(pages.pages);
  if (deps.routes) app.use(...(existing ? [existing.giveHeaders] : []), deps.routes);
  if (existing) app.use(existing.run, existing.giveHeaders);
  app.use('/api', apiNotFound());
  app.use(unclaimedMethods());
  app.use(pages.notFound);
  if (existing) app.use(existing.giveHeadersToErrors);
  app.use(fail);

  /** With an existing app, these paths follow our rules, and all others follow the app's. */
  function isReserved(path: string): boolean {
    return isTakenPath(path) || path === deps.reportPath || files.has(path) || pages.isPage(path);
  }

  function isProductsApi(path: string): boolean {
    return isApiPath(path) && !isDeskApiPath(path);
  }

  function isDesk(path: string): boolean {
    return deps.desk?.covers(path) ?? false;
  }

  function isForOperators(path: string): boolean {
    return isDesk(path) || (deps.deskApi !== undefined && isDeskApiPath(path));
  }

  return chain(front, intoExpress(app, fail), fail);
}
