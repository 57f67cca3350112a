import { createDeskApp, type DeskAppDeps } from './desk/desk-app.ts';
import { createHttpServer, type HttpServer } from './engine/http/http-server.ts';
import { toSecurityHeaders } from './engine/http/security-headers.ts';
import type { DeskSide } from './open-desk-side.ts';
import type { Failures } from './open-failures.ts';
import type { Ground } from './open-ground.ts';

type Others = Pick<DeskAppDeps, 'origins' | 'trust' | 'readiness' | 'files' | 'desk' | 'metricsPage' | 'tunnel'>;

/** A listener of the desk's own. */
export function createDeskServer(ground: Ground, failures: Failures, side: DeskSide, others: Others): HttpServer {
  const { config, log, metrics } = ground;
  const { funnel, inFlight, scrubPath } = failures;
  const { compression, keepAlive } = config;
  return createHttpServer(
    createDeskApp({
      ...others,
      log,
      funnel,
      takeCredentials: side.signIn.takeCredentials,
      api: side.api,
      compression,
      inFlight,
      scrubPath,
      metrics,
    }),
    { log, count: metrics.count, keepAlive, headers: toSecurityHeaders(others.origins) },
  );
}
