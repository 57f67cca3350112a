import { createApp, type PortParts } from '../app.ts';
import { readOpenFileLimit, toConnectionLimits, toMaxConnections } from '../connection/admission.ts';
import type { Connections } from '../connection/connections.ts';
import { createDrain, type Drain, joinDrains, type UpgradedSockets } from '../connection/drain.ts';
import { createHttpServer, type HttpServer } from '../connection/http-server.ts';
import { checkPage, type FixedPaths, metricsPage, type Readiness } from '../front/fixed-paths.ts';
import { indexPublicFiles } from '../front/public-files.ts';
import { toSecurityHeaders } from '../front/security-headers.ts';
import { handleUpgrades } from '../front/upgrades.ts';
import { openTunnel } from '../reports/tunnel.ts';
import type { Origins } from '../request/origins.ts';
import { createProxyTrust } from '../request/proxy-trust.ts';
import type { OpenedTracker } from '../tracker/tracker.ts';
import { type Opened, toDeskOrigins } from './open.ts';

/** The server of each port. */
export interface Connected {
  /** That of PORT. */
  readonly main: HttpServer;
  /** That of DESK_PORT. */
  readonly second: HttpServer | undefined;
  /** Ends all of them. */
  readonly drain: Drain;
}

/** The share of the open connections for DESK_PORT. */
const SECOND_SHARE = 1 / 16;

/** Makes the app and the server of each port. They do not listen yet. */
export function connect(opened: Opened): Connected {
  const { basics, product, tracker, development, origins } = opened;
  const { config, build, access, metrics, log } = basics;
  const { deskPort } = config;
  const readiness = { draining: false, details: () => tracker?.health() ?? {} };
  const trackerParts = tracker &&
    basics.tracker && { home: basics.tracker.paths[0], canOpen: tracker.canOpen, handle: tracker.handle };
  const total = toMaxConnections(readOpenFileLimit());
  const secondShare = deskPort === undefined ? 0 : Math.ceil(total * SECOND_SHARE);

  const isTogether = deskPort === undefined;
  const files = development?.files ?? indexPublicFiles(build.dist, log);
  const parts = toPortParts(opened, readiness, {
    origins,
    files,
    metricsPaths: isTogether ? metricsPage(metrics, access.checkToken) : {},
    canOpen: isTogether ? tracker?.canOpen : undefined,
  });
  const siteParts = { ...product.parts, development: development?.routes };
  const main = toServer(
    basics,
    parts,
    createApp(parts, siteParts, isTogether ? trackerParts : undefined),
    total - secondShare,
  );
  const upgraded = handleUpgrades(main, parts, {
    upgrades: product.upgrades,
    existing: product.parts.existingApp?.server,
    steps: product.parts.steps,
  });

  const second = deskPort === undefined ? undefined : connectSecond(deskPort);
  const drains = [toDrain(main, upgraded), ...(second ? [toDrain(second)] : [])];
  registerGauges(opened, readiness, main.connections);
  return { main, second, drain: joinDrains(drains) };

  /** Only an internal network can reach this port, so the metrics need no token, and error pages do not lead to it. */
  function connectSecond(number: number): HttpServer {
    const parts = toPortParts(opened, readiness, {
      origins: toDeskOrigins(config.host, number),
      files,
      metricsPaths: metricsPage(metrics, undefined),
      canOpen: undefined,
    });
    return toServer(basics, parts, createApp(parts, undefined, trackerParts), secondShare);
  }

  function toDrain({ server, connections }: HttpServer, upgraded?: UpgradedSockets): Drain {
    const { drainLag: lag, drainDeadline: deadline } = config;
    return createDrain({ server, connections, upgraded, lag, deadline, onStart });
  }

  function onStart(): void {
    readiness.draining = true;
  }
}

interface PortFacts {
  readonly origins: Origins;
  readonly files: PortParts['answers']['files'];
  /** Empty if another port serves the metrics. */
  readonly metricsPaths: FixedPaths;
  /** Who sees the URL of a failure. Undefined for nobody. */
  readonly canOpen: OpenedTracker['canOpen'] | undefined;
}

function toPortParts(
  { basics, failures, product, tracker }: Opened,
  readiness: Readiness,
  { origins, files, metricsPaths, canOpen }: PortFacts,
): PortParts {
  const { config, build, access, log, metrics } = basics;
  const { funnel, inFlight, scrubPath, scrubber, sentry, table } = failures;
  const trust = createProxyTrust(config.trustProxy);
  return {
    rules: {
      origins,
      trust,
      takeCredentials: tracker?.takeCredentials ?? ((_req, _res, next) => next()),
      isTrackers: basics.isTrackers,
    },
    records: { log, funnel, scrubPath, metrics, inFlight },
    answers: {
      readiness,
      fixed: [checkPage({ trust, checkToken: access.checkToken }), metricsPaths],
      files,
      findOldAsset: tracker?.findAsset,
      scriptPolicy: product.scriptPolicy,
      compression: config.compression,
      tunnel: openTunnel(
        { path: config.tunnelPath, origins, canOpen },
        {
          build: build.manifest.buildId,
          release: build.release,
          namespace: config.digestNamespace,
          table,
          scrubber,
          routes: [...basics.routes, ...(basics.tracker?.routes ?? [])],
        },
        { tracker, upstream: sentry?.upstream, toUrl: funnel.toUrl, count: metrics.count, log },
      ),
      reportPath: basics.page.reportPath,
    },
  };
}

function toServer(
  { config, log, metrics }: Opened['basics'],
  { rules }: PortParts,
  app: ReturnType<typeof createApp>,
  limit: number,
): HttpServer {
  const limits = toConnectionLimits(limit, config.maxConnectionsPerAddress);
  return createHttpServer(
    app,
    { limits, trust: rules.trust, times: config.times, headers: toSecurityHeaders(rules.origins) },
    { log, count: metrics.count },
  );
}

/** Registers the gauges that are read with the metrics. */
function registerGauges(
  { basics, failures, product }: Opened,
  readiness: Readiness,
  { sockets }: Pick<Connections, 'sockets'>,
): void {
  const { gauge } = basics.metrics;
  const { limiter, parts } = product;
  const { overload } = parts;
  gauge('http_server_active_requests', 'Requests in flight.', () => failures.inFlight.size);
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
