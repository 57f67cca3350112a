import type { RequestListener } from 'node:http';
import { createApp, type PortParts } from '../app.ts';
import { readOpenFileLimit, toConnectionLimits, toMaxConnections } from '../connection/admission.ts';
import type { Connections } from '../connection/connections.ts';
import { createDrain, type Drain, joinDrains, type UpgradedSockets } from '../connection/drain.ts';
import { createHttpServer, type HttpServer } from '../connection/http-server.ts';
import { createPathScrubber } from '../errors/scrub/secret-path.ts';
import { checkPage, type FixedPaths, metricsPage, type Readiness } from '../front/fixed-paths.ts';
import type { InFlight } from '../front/in-flight.ts';
import type { Metrics } from '../front/metrics.ts';
import type { Overload } from '../front/overload.ts';
import { indexPublicFiles } from '../front/public-files.ts';
import type { RenderLimiter } from '../front/render-limiter.ts';
import { toSecurityHeaders } from '../front/security-headers.ts';
import { handleUpgrades } from '../front/upgrades.ts';
import { openTunnel } from '../reports/tunnel.ts';
import type { Origins } from '../request/origins.ts';
import { createOwnsPath } from '../request/paths.ts';
import type { Step } from '../request/step.ts';
import type { OpenedTracker } from '../tracker/tracker.ts';
import type { Opened } from './open.ts';

/** The server of PORT, that of DESK_PORT, and what ends both. */
export type Connected = ReturnType<typeof connect>;

/** The share of the open connections for DESK_PORT. */
const SECOND_SHARE = 1 / 16;

/** What differs between the ports. */
interface PortFacts {
  readonly origins: Origins;
  /** Empty if another port serves the metrics. */
  readonly metricsPaths: FixedPaths;
  /** Whether responses to reports have the URL of the failure. Undefined for never. */
  readonly canOpen: OpenedTracker['canOpen'] | undefined;
}

/** Makes the app and the server of each port. They do not listen yet. */
export function connect(opened: Opened) {
  const { basics, access, page, failures, inFlight, product, tracker, declared, development } = opened;
  const { config, build, log, metrics } = basics;
  const { checkToken, trust } = access;
  const { funnel, scrubber, sentry, table } = failures;
  const { count } = metrics;
  const readiness = { draining: false, details: () => tracker?.health() ?? {} };
  const takeCredentials: Step = tracker?.takeCredentials ?? ((_req, _res, next) => next());
  const isTrackers = createOwnsPath(declared);
  const records = { log, funnel, scrubPath: createPathScrubber(scrubber), metrics, inFlight };
  const files = development?.files ?? indexPublicFiles(build.dist, log);
  const trackerParts = tracker &&
    declared && { home: declared.paths[0], canOpen: tracker.canOpen, handle: tracker.handle };
  const { deskPort } = config;
  const isTogether = deskPort === undefined;
  const total = toMaxConnections(readOpenFileLimit());
  const secondShare = isTogether ? 0 : Math.ceil(total * SECOND_SHARE);

  const parts = toPortParts({
    origins: opened.origins,
    metricsPaths: isTogether ? metricsPage(metrics, checkToken) : {},
    canOpen: isTogether ? tracker?.canOpen : undefined,
  });
  const app = createApp(parts, product.parts, isTogether ? trackerParts : undefined, development?.routes);
  const main = toServer(app, opened.origins, total - secondShare);
  const upgraded = handleUpgrades(main, parts, {
    upgrades: product.upgrades,
    existing: product.parts.existingApp?.server,
    steps: product.parts.steps,
  });
  const second = isTogether ? undefined : connectSecond();
  const drains = [toDrain(main, upgraded), ...(second ? [toDrain(second)] : [])];
  registerGauges(metrics.gauge, {
    readiness,
    inFlight,
    sockets: main.connections.sockets,
    limiter: product.limiter,
    overload: product.parts.overload,
  });
  return { main, second, drain: joinDrains(drains) };

  /** Only an internal network can reach this port, so the metrics need no token, and error pages do not lead to it. */
  function connectSecond(): HttpServer {
    const { origins } = access;
    const parts = toPortParts({ origins, metricsPaths: metricsPage(metrics, undefined), canOpen: undefined });
    return toServer(createApp(parts, undefined, trackerParts), origins, secondShare);
  }

  function toPortParts({ origins, metricsPaths, canOpen }: PortFacts): PortParts {
    const tunnel = openTunnel(
      { path: config.tunnelPath, origins, canOpen },
      {
        build: build.manifest.buildId,
        release: build.release,
        namespace: config.digestNamespace,
        table,
        scrubber,
        routes: opened.routes,
      },
      { tracker, upstream: sentry?.upstream, toUrl: funnel.toUrl, count, log },
    );
    return {
      rules: { origins, trust, takeCredentials, isTrackers },
      records,
      answers: {
        readiness,
        fixed: [checkPage({ trust, checkToken }), metricsPaths],
        files,
        findOldAsset: tracker?.findAsset,
        scriptPolicy: product.scriptPolicy,
        compression: config.compression,
        tunnel,
        reportPath: page.reportPath,
      },
    };
  }

  function toServer(app: RequestListener, origins: Origins, limit: number): HttpServer {
    const limits = toConnectionLimits(limit, config.maxConnectionsPerAddress);
    const headers = toSecurityHeaders(origins);
    return createHttpServer(app, { limits, trust, times: config.times, headers }, { log, count });
  }

  function toDrain({ server, connections }: HttpServer, upgraded?: UpgradedSockets): Drain {
    const { drainLag: lag, drainDeadline: deadline } = config;
    return createDrain({ server, connections, upgraded, lag, deadline, onStart });
  }

  function onStart(): void {
    readiness.draining = true;
  }
}

interface Gauged {
  readonly readiness: Readiness;
  readonly inFlight: InFlight;
  /** The connections of PORT. */
  readonly sockets: Connections['sockets'];
  readonly limiter: RenderLimiter;
  readonly overload: Overload | undefined;
}

/** Registers the gauges that are read with the metrics. */
function registerGauges(gauge: Metrics['gauge'], { readiness, inFlight, sockets, limiter, overload }: Gauged): void {
  gauge('http_server_active_requests', 'Requests in flight.', () => inFlight.size);
  gauge('spillway_open_connections', 'Open sockets on PORT.', () => sockets.size);
  gauge('spillway_draining', '1 while the server is stopping.', () => Number(readiness.draining));
  gauge(
    'spillway_pages_in_progress',
    'Pages in progress: from the first guard to the shell, and renders of static pages.',
    () => limiter.pages,
  );
  gauge('spillway_renders_queued', 'Pages that wait for a render slot.', () => limiter.queued);
  if (overload) {
    gauge(
      'spillway_overload_level',
      'Waiting work against its limits. Refused are prefetches from 0.5 on, pages from 1, forms and the API from 4.',
      () => overload.level,
    );
  }
}
