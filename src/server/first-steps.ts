import express, { type Express } from 'express';
import type { Logger } from 'pino';
import { oneAtATime } from './connection/http-server.ts';
import type { ProductReporting } from './define-product.ts';
import type { ScrubPath } from './errors/scrub/secret-path.ts';
import { accessLog, type InFlight } from './front/access-log.ts';
import { type FixedPaths, fixedPaths, health, type Readiness } from './front/fixed-paths.ts';
import { hostCheck } from './front/host-check.ts';
import type { Metrics } from './front/metrics.ts';
import { type NormalizeUrlOptions, normalizeUrl } from './front/normalize-url.ts';
import { securityHeaders, strictTransport, toSecurityHeaders } from './front/security-headers.ts';
import { visitorId } from './front/visitor-id.ts';
import type { ProxyTrust } from './request/client-address.ts';
import type { Origins } from './request/origins.ts';
import { requestId } from './request/request-info.ts';
import type { Step } from './request/step.ts';
import { findTracer, tracing } from './request/tracing.ts';

export interface FirstStepsDeps {
  readonly log: Logger;
  readonly origins: Origins;
  readonly trust: ProxyTrust;
  readonly readiness: Readiness;
  /** Removes credentials of operators from each request before the product sees it. */
  readonly takeCredentials: Step;
  /** Tracks the requests in flight. */
  readonly inFlight?: InFlight;
  readonly scrubPath: ScrubPath;
  readonly metrics?: Pick<Metrics, 'observeRequest'>;
  /** Answers `/metrics`, unless it is on another port. */
  readonly metricsPage?: FixedPaths | undefined;
  /** Answers `npm start -- --check <url>`. */
  readonly checkPage?: FixedPaths;
  /** The product's function that identifies the visitor, for failures. */
  readonly visitorId?: ProductReporting['visitorId'] | undefined;
  /** The path at which the tunnel receives the browser's own reports. */
  readonly reportPath?: string;
}

/**
 * Returns the first steps of each request, on each port. They run before Express, whose
 * router reads the request line before any of its own steps.
 */
export function firstSteps(deps: FirstStepsDeps, spelling?: NormalizeUrlOptions): Step[] {
  const { log, origins, trust, inFlight, scrubPath, metrics } = deps;
  const tracer = findTracer();
  return [
    oneAtATime(),
    requestId({ origins, trust }),
    deps.takeCredentials,
    ...(deps.visitorId ? [visitorId({ visitorId: deps.visitorId, log })] : []),
    accessLog({ log, inFlight, scrubPath, metrics }),
    securityHeaders(toSecurityHeaders(origins)),
    normalizeUrl(spelling),
    fixedPaths([health(deps.readiness), deps.metricsPage ?? {}, deps.checkPage ?? {}]),
    hostCheck({ origins, trust, log }),
    ...(tracer ? [tracing(tracer, scrubPath)] : []),
    strictTransport({ reportPath: deps.reportPath }),
  ];
}

/** Creates an Express app that trusts the same proxies and does not send `X-Powered-By`. */
export function createExpress(trust: ProxyTrust): Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('trust proxy', trust);
  return app;
}
