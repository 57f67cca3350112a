import { join } from 'node:path';
import type { ComponentType } from 'react';
import { routes as deskRoutes } from '../../shared/desk/routes.tsx';
import type { DocumentProps } from '../../shared/engine/rendering/document.ts';
import type { ErrorPages } from '../../shared/engine/rendering/engine-context.ts';
import type { RouteDefinition } from '../../shared/engine/routing/routes.ts';
import { createApp } from '../app.ts';
import type { Config } from '../config.ts';
import { printSignInLink } from '../desk/access/print-sign-in-link.ts';
import { orClose } from '../desk/desk.ts';
import { createDeskOrigins } from '../desk/desk-app.ts';
import { openFeedback } from '../desk/ingest/feedback/open-feedback.ts';
import { openTunnel } from '../desk/ingest/tunnel/open-tunnel.ts';
import { createDeskPages } from '../desk/pages/desk-pages.ts';
import { createBodyReader } from '../engine/api/body-reader.ts';
import { indexPublicFiles } from '../engine/assets/public-files.ts';
import { readOpenFileLimit, toConnectionLimits, toMaxConnections } from '../engine/connection/connection-limits.ts';
import { createDrain, joinDrains } from '../engine/connection/drain.ts';
import { createHttpServer } from '../engine/connection/http-server.ts';
import { listen, toHttpUrl } from '../engine/connection/listen.ts';
import { handleUpgrades } from '../engine/connection/upgrades.ts';
import { loadExistingApp } from '../engine/existing-app.ts';
import { createAppLog } from '../engine/monitoring/app-log.ts';
import { doctorPage } from '../engine/monitoring/doctor-page.ts';
import { metricsPage, type Readiness } from '../engine/monitoring/fixed-paths.ts';
import type { ServerLog } from '../engine/monitoring/logger.ts';
import { describeNodeFloor } from '../engine/monitoring/node-floor.ts';
import { createPages } from '../engine/pages/page-handlers.ts';
import { type Product, toContextMaker } from '../engine/product.ts';
import { createContentPolicy } from '../engine/protection/content-policy.ts';
import { openOverload } from '../engine/protection/open-overload.ts';
import { createOrigins, type Origins } from '../engine/protection/origins.ts';
import { createProxyTrust } from '../engine/protection/proxy-trust.ts';
import { toSecurityHeaders } from '../engine/protection/security-headers.ts';
import { DESK_SHARE } from '../limits.ts';
import { openUpstream } from '../sentry/open-upstream.ts';
import { bootstrap } from './bootstrap.ts';
import { createDeskServer } from './create-desk-server.ts';
import { toDocumentParts } from './document-parts.ts';
import { openDeskSide } from './open-desk-side.ts';
import { openFailures } from './open-failures.ts';
import { announce, serveUntilStopped } from './serve-until-stopped.ts';
import { openServices } from './services.ts';
import { watchServer } from './watch-server.ts';

/** Everything of the product that a server needs. */
export interface Site<Settings, Services, Own extends object> {
  /** The folder of the build. */
  readonly dist: string;
  readonly product: Product<Settings, Services, Own>;
  readonly routes: readonly RouteDefinition[];
  readonly document: ComponentType<DocumentProps>;
  readonly errorPages: ErrorPages;
}

export async function startSite<Settings, Services, Own extends object>({
  dist,
  product,
  routes,
  document,
  errorPages,
}: Site<Settings, Services, Own>): Promise<void> {
  const boot = await bootstrap(dist);
  const { config, manifest, release, log, flush, metrics, linkFor } = boot;
  const { count } = metrics;
  const settings = product.settings.read(process.env, config);
  const upstream = await openUpstream({ config, debugIds: manifest.debugIds, count, log });
  const failures = openFailures(boot, {
    routes,
    reporters: upstream.reporters,
    splitBy: product.reporting?.splitBy,
    keep: product.reporting?.keep,
    onFailure: process.env.SPILLWAY_DEV ? (...args) => development?.onFailure?.(...args) : undefined,
  });
  const { funnel, scrubber, scrubPath, inFlight } = failures;
  const appLog = createAppLog(log);
  const { services, close: closeServices } = await openServices(product.services, settings, {
    scrubber,
    log: appLog,
  });
  const parts = { settings, services };
  const steps = product.steps?.(parts) ?? [];
  const createContext = toContextMaker(product, parts);
  const trust = createProxyTrust(config.trustProxy);
  const origins = createOrigins(config.publicOrigins, toHttpUrl(config.host, config.port));
  const { earlyScript, reportPath, traced } = toDocumentParts(boot);
  const takesFeedback = product.reporting?.feedback !== false;
  // A process that is paused at a breakpoint seems overloaded, so nothing is refused during development.
  const { limiter, overload } = openOverload({
    delayMs: process.env.SPILLWAY_DEV ? 0 : config.overloadDelay,
    maxPages: config.maxPages,
    count,
  });
  const bodies = createBodyReader();
  const pages = await createPages({
    routes,
    document,
    errorPages,
    pages: product.pages,
    createContext,
    sharedContext: parts,
    manifest,
    funnel,
    log: appLog,
    policy: createContentPolicy(product.contentSources, { earlyScript, reportPath, styleAttributes: true }),
    origins,
    takesFeedback,
    traceTargets: config.traceTargets,
    traced,
    compression: config.compression,
    isSecret: false,
    bodies,
    limiter,
  });
  const readiness: Readiness = {
    get draining() {
      return drain.draining;
    },
    details: () => ({ ...desk.condition }),
  };
  // A new development server waits here until the previous one has released the store. If anything above fails, the
  // previous one continues.
  const development = process.env.SPILLWAY_DEV
    ? await (await import('../engine/develop/development.ts')).createDevelopment({ dist })
    : undefined;
  const side = await openDeskSide(boot, failures, { beats: true });
  const { desk, visitors, mayRead } = side;
  const { takeCredentials } = side.signIn;
  const deskAt = config.deskPort === undefined ? undefined : { host: config.host, port: config.deskPort };
  const deskOrigins = deskAt && createDeskOrigins(toHttpUrl(deskAt.host, deskAt.port));
  const deskPages = await createDeskPages({
    desk,
    signIn: side.signIn.signIn,
    facts: side.facts,
    manifest,
    funnel,
    log,
    origins: deskOrigins ?? origins,
    bodies,
    earlyScript,
    reportPath,
    traced,
  });
  const toTunnel = (of: Origins) =>
    openTunnel({
      path: config.tunnelPath,
      desk,
      feedback: side.feedback,
      upstream: config.sentryDsn && upstream.outbox && { dsn: config.sentryDsn.text, outbox: upstream.outbox },
      environment: config.sentryEnvironment,
      build: manifest.buildId,
      release,
      namespace: config.digestNamespace,
      table: failures.table,
      scrubber,
      origins: of,
      bodies,
      routes: [...routes, ...deskRoutes],
      visitors,
      isOperator: deskAt ? undefined : deskPages.isOperator,
      count,
      log,
    });
  const readMetrics = metricsPage({ metrics, mayRead: deskAt ? async () => true : mayRead });
  const upgrades = product.upgrades?.(parts) ?? {};
  const existing = await loadExistingApp(product.existingApp, join(dist, '..'), log);
  const hasSockets = Object.keys(upgrades).length > 0;
  const files = development?.files ?? indexPublicFiles(join(dist, 'client'));
  const app = createApp({
    log,
    funnel,
    origins,
    trust,
    readiness,
    files,
    findOldAsset: desk.findOldAsset,
    inFlight,
    scrubPath,
    takeCredentials,
    metrics,
    onEnd: side.noteRequest,
    metricsPage: deskAt ? undefined : readMetrics,
    doctorPage: doctorPage({ origins, trust, mayRead, compression: config.compression, hasSockets }),
    overload,
    reportPath,
    tunnel: toTunnel(origins),
    desk: deskAt ? undefined : deskPages,
    deskApi: deskAt ? undefined : side.api,
    visitorId: product.reporting?.visitorId,
    feedback: takesFeedback
      ? openFeedback({ feedback: side.feedback, origins, bodies, scrubber, toVisitor: visitors.toVisitor, log })
      : undefined,
    pages,
    api: product.api?.(parts),
    apiDocument: product.apiDocument,
    apiStore: product.apiStore?.(parts),
    apiOrigins: product.apiOrigins,
    compression: config.compression,
    development: development?.routes,
    steps,
    routes: product.routes?.(parts),
    existingApp: existing,
  });
  const maxConnections = toMaxConnections(readOpenFileLimit());
  const deskConnections = deskAt ? Math.ceil(maxConnections * DESK_SHARE) : 0;
  const { server, connections } = createHttpServer(app, {
    log,
    limits: toConnectionLimits(maxConnections - deskConnections, config.maxConnectionsPerAddress),
    trust,
    count,
    times: config.times,
    headers: toSecurityHeaders(origins),
  });
  server.on('connection', () => limiter.noteConnection());
  const upgraded = handleUpgrades(server, {
    upgrades,
    existing: existing?.server,
    takeCredentials,
    steps,
    origins,
    trust,
    connections,
    log,
    funnel,
  });
  const deskServer =
    deskOrigins &&
    createDeskServer(boot, failures, side, {
      origins: deskOrigins,
      trust,
      maxConnections: deskConnections,
      readiness,
      files,
      desk: deskPages,
      metricsPage: readMetrics,
      tunnel: toTunnel(deskOrigins),
    });
  const onStop = (): void => {
    deskPages.endStreams();
    development?.endStreams();
  };
  const ending = { lag: config.drainLag, deadline: config.drainDeadline, onStop };
  const drain = joinDrains([
    createDrain({ server, connections, upgraded, ...ending }),
    ...(deskServer ? [createDrain({ ...deskServer, ...ending })] : []),
  ]);
  watchServer({ metrics, inFlight, connections, limiter, overload, drain, desk, outbox: upstream.outbox });
  serveUntilStopped({
    config,
    drain,
    desk,
    funnel,
    async close() {
      await closeServices();
      await desk.close();
      await upstream.close();
      log.info(await metrics.listCounts(), 'Counts since the start.');
    },
    log,
    flush,
  });

  const url = development ? toHttpUrl(config.host, config.port) : await orClose(desk, listen(server, config));
  await development?.listen(server, config);
  announce(url, log);
  const deskUrl =
    deskServer && deskAt && (await orClose(desk, listen(deskServer.server, { ...deskAt, setting: 'DESK_PORT' })));
  if (deskUrl !== undefined) log.info(`The desk is on ${deskUrl}/desk`);
  if (development?.isFirst !== false) logAdvice(config, log);
  if (!development) warnOfNode(log);
  if (linkFor !== undefined && development?.isFirst !== false) {
    await printSignInLink(side.signIn.makeLink(deskUrl ?? config.publicOrigins[0] ?? url, linkFor), log);
  }
  await side.settleIn({ isEdited: development?.isFirst === false });
}

function warnOfNode(log: ServerLog['log']): void {
  const words = describeNodeFloor(process.versions.node);
  if (words !== undefined) log.warn(words);
}

/** Logs settings that are worth changing. */
function logAdvice({ publicOrigins, isLoopback }: Config, log: ServerLog['log']): void {
  if (publicOrigins.length === 0) {
    log.warn(
      'PUBLIC_ORIGINS is not set: requests for any host are accepted. Set it in production, for example PUBLIC_ORIGINS=https://example.com.',
    );
  }
  if (isLoopback) log.info('Listening on localhost only. Set HOST=0.0.0.0 to accept outside connections.');
}
