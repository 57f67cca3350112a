import { toConnectionLimits } from '../../server/connection/connections.ts';
import { createHttpServer, type HttpServer } from '../../server/connection/http-server.ts';
import { toSecurityHeaders } from '../../server/front/security-headers.ts';
import type { Bootstrap } from '../../server/start/bootstrap.ts';
import type { Failures } from '../../server/start/open-failures.ts';
import { createDeskApp, type DeskAppDeps } from './desk-app.ts';
import type { DeskSide } from './open-desk-side.ts';

interface Others
  extends Pick<DeskAppDeps, 'origins' | 'trust' | 'readiness' | 'files' | 'desk' | 'metricsPage' | 'tunnel'> {
  /** The most open connections (a count). */
  readonly maxConnections: number;
}

/** Creates the server of the desk's separate port. */
export function createDeskServer(boot: Bootstrap, failures: Failures, side: DeskSide, others: Others): HttpServer {
  const { config, log, metrics } = boot;
  const { funnel, inFlight, scrubPath } = failures;
  const { compression, times, maxConnectionsPerAddress } = config;
  const limits = toConnectionLimits(others.maxConnections, maxConnectionsPerAddress);
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
    { log, limits, trust: others.trust, count: metrics.count, times, headers: toSecurityHeaders(others.origins) },
  );
}
