import type { RequestListener } from 'node:http';
import express, { type RequestHandler } from 'express';
import type { Logger } from 'pino';
import { assets } from '../engine/assets/assets.ts';
import { compress } from '../engine/assets/compress.ts';
import type { PublicFile } from '../engine/assets/public-files.ts';
import { expectContinue } from '../engine/connection/expect-continue.ts';
import type { InFlight } from '../engine/connection/in-flight.ts';
import { lateWrites } from '../engine/connection/late-writes.ts';
import { oneAtATime } from '../engine/connection/one-at-a-time.ts';
import { type ErrorHandler, errorHandler } from '../engine/errors/error-handler.ts';
import type { Funnel } from '../engine/errors/funnel.ts';
import { notFoundHere } from '../engine/errors/http-error.ts';
import { requestContext } from '../engine/errors/request-context.ts';
import type { ScrubPath } from '../engine/errors/scrub/secret-path.ts';
import { accessLog } from '../engine/monitoring/access-log.ts';
import { health, type Readiness } from '../engine/monitoring/health.ts';
import type { Metrics } from '../engine/monitoring/metrics.ts';
import { crossSite } from '../engine/protection/cross-site.ts';
import { hostCheck } from '../engine/protection/host-check.ts';
import { normalizeUrl } from '../engine/protection/normalize-url.ts';
import { createOrigins, type Origins } from '../engine/protection/origins.ts';
import type { ProxyTrust } from '../engine/protection/proxy-trust.ts';
import { securityHeaders, strictTransport, toSecurityHeaders } from '../engine/protection/security-headers.ts';
import { requestId } from '../engine/request/request-id.ts';
import { chain, intoExpress, type Step } from '../engine/request/step.ts';
import { DESK_API_PATH } from './api/desk-api.ts';
import type { DeskPages } from './pages/desk-pages.ts';

export interface DeskAppDeps {
  readonly log: Logger;
  readonly funnel: Funnel;
  /** By `createDeskOrigins()`. */
  readonly origins: Origins;
  readonly trust: ProxyTrust;
  readonly readiness: Readiness;
  readonly files: ReadonlyMap<string, PublicFile>;
  readonly takeCredentials: Step;
  readonly desk: DeskPages;
  readonly api: RequestHandler;
  readonly compression?: boolean;
  readonly inFlight?: InFlight;
  readonly scrubPath: ScrubPath;
  readonly metrics?: Pick<Metrics, 'observeRequest'>;
  /** Answers `/metrics`. */
  readonly metricsPage?: Step;
  /** Takes what browsers report of the desk's own pages. */
  readonly tunnel?: (fail: ErrorHandler) => Step;
}

/**
 * No host is refused on a listener of the desk's own, which is reached by whatever name or address an
 * inner network has for it. A form must come from the host that it is posted to.
 */
export function createDeskOrigins(listening: string): Origins {
  return createOrigins([], listening);
}

/** What happens to a request on a listener of the desk's own, in order: nothing of the product. */
export function createDeskApp(deps: DeskAppDeps): RequestListener {
  const { log, funnel, origins, trust, readiness, files, desk, api } = deps;
  const fail = errorHandler({ funnel });
  const app = express();
  app.disable('x-powered-by');
  app.set('trust proxy', trust);

  const front = [
    oneAtATime(),
    requestId({ origins, trust }),
    deps.takeCredentials,
    requestContext(),
    accessLog({ log, inFlight: deps.inFlight, scrubPath: deps.scrubPath, metrics: deps.metrics }),
    securityHeaders(toSecurityHeaders(origins)),
    normalizeUrl(),
    health({ readiness }),
    ...(deps.metricsPage ? [deps.metricsPage] : []),
    hostCheck({ origins, trust, log }),
    strictTransport(),
    ...(deps.tunnel ? [deps.tunnel(fail)] : []),
    assets({ files }),
  ];

  app.use(crossSite({ origins }));
  app.use(expectContinue());
  if (deps.compression) app.use(compress());
  app.use(lateWrites({ funnel }));
  app.use(desk.step);
  app.use(DESK_API_PATH, api);
  app.get('/', (_req, res) => void res.set('Cache-Control', 'no-store').redirect(302, '/desk'));
  app.use(() => {
    throw notFoundHere();
  });
  app.use(fail);

  return chain(front, intoExpress(app, fail), fail);
}
