import { createApp, type PortParts } from '../app.ts';
import {
  type Connections,
  readOpenFileLimit,
  toConnectionLimits,
  toMaxConnections,
} from '../connection/connections.ts';
import { createDrain, joinDrains } from '../connection/drain.ts';
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

export type Connected = ReturnType<typeof connect>;

/** The share of the open connections for DESK_PORT. */
const DESK_SHARE = 1 / 16;

/** Makes the app and the server of each port. They do not listen yet. `drain` ends all of them. */
export function connect(opened: Opened) {
  const { basics, product, tracker, development, origins } = opened;
  const { config, checkToken, metrics } = basics;
  const { deskPort } = config;
  const readiness = { draining: false, details: () => tracker?.health() ?? {} };
  const shown = tracker &&
    basics.tracker && { home: basics.tracker.paths[0], canOpen: tracker.canOpen, handle: tracker.handle };
  const total = toMaxConnections(readOpenFileLimit());
  const deskShare = deskPort === undefined ? 0 : Math.ceil(total * DESK_SHARE);

  const isTogether = deskPort === undefined;
  const files = development?.files ?? indexPublicFiles(basics.dist, basics.log);
  const port = toPort(opened, readiness, {
    origins,
    files,
    metricsPaths: isTogether ? metricsPage(metrics, checkToken) : {},
    canOpen: isTogether ? tracker?.canOpen : undefined,
  });
  const app = createApp(port, { ...product.parts, development: development?.routes }, isTogether ? shown : undefined);
  const site = toServer(opened, port, app, total - deskShare);
  const upgraded = handleUpgrades(site, port, {
    upgrades: product.upgrades,
    existing: product.parts.existingApp?.server,
    steps: product.parts.steps,
  });

  const desk = deskPort === undefined ? undefined : connectDesk(deskPort);
  const ending = { lag: config.drainLag, deadline: config.drainDeadline, onStart };
  const drains = [
    createDrain({ ...site, upgraded, ...ending }),
    ...(desk ? [createDrain({ ...desk, ...ending })] : []),
  ];
  registerGauges(opened, readiness, site.connections);
  return { site, desk, drain: joinDrains(drains) };

  /** Only an internal network can reach this port, so the metrics need no token, and error pages do not lead to it. */
  function connectDesk(number: number): HttpServer {
    const own = toDeskOrigins(config.host, number);
    const facts = { origins: own, files, metricsPaths: metricsPage(metrics, undefined), canOpen: undefined };
    const port = toPort(opened, readiness, facts);
    return toServer(opened, port, createApp(port, undefined, shown), deskShare);
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

function toPort(opened: Opened, readiness: Readiness, { origins, files, metricsPaths, canOpen }: PortFacts): PortParts {
  const { basics, failures, tracker } = opened;
  const { config, log, metrics, manifest, release } = basics;
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
      fixed: [checkPage({ trust, checkToken: basics.checkToken }), metricsPaths],
      files,
      findOldAsset: tracker?.findAsset,
      compression: config.compression,
      tunnel: openTunnel(
        { path: config.tunnelPath, origins, canOpen },
        {
          build: manifest.buildId,
          release,
          namespace: config.digestNamespace,
          table,
          scrubber,
          routes: [...basics.routes, ...(basics.tracker?.routes ?? [])],
        },
        { store: tracker, upstream: sentry?.upstream, toUrl: funnel.toUrl, count: metrics.count, log },
      ),
      reportPath: basics.page.reportPath,
    },
  };
}

function toServer({ basics }: Opened, port: PortParts, app: ReturnType<typeof createApp>, limit: number): HttpServer {
  const { config, log, metrics } = basics;
  return createHttpServer(app, {
    log,
    limits: toConnectionLimits(limit, config.maxConnectionsPerAddress),
    trust: port.rules.trust,
    count: metrics.count,
    times: config.times,
    headers: toSecurityHeaders(port.rules.origins),
  });
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
