// First, because with DESK_ONLY=1 nothing below it is evaluated.
import './desk-only.ts';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { routes as deskRoutes } from '../shared/desk/routes.tsx';
import { Document } from '../shared/product/document.tsx';
import { errorPages } from '../shared/product/error-pages.tsx';
import { routes } from '../shared/product/routes.tsx';
import { createApp } from './app.ts';
import type { Config } from './config.ts';
import { createDeskServer } from './create-desk-server.ts';
import { orClose } from './desk/desk.ts';
import { createDeskOrigins } from './desk/desk-app.ts';
import { openFeedback } from './desk/feedback/open-feedback.ts';
import { createDeskPages } from './desk/pages/desk-pages.ts';
import { tellNewcomer } from './desk/sign-in/tell-newcomer.ts';
import { openTunnel } from './desk/tunnel/open-tunnel.ts';
import { toDocumentParts } from './document-parts.ts';
import { createBodyReader } from './engine/http/body-reader.ts';
import { readOpenFileLimit, toConnectionLimits, toMaxConnections } from './engine/http/connection-limits.ts';
import { createContentPolicy } from './engine/http/content-policy.ts';
import { doctorPage } from './engine/http/doctor-page.ts';
import { createDrain, joinDrains } from './engine/http/drain.ts';
import { loadExistingApp } from './engine/http/existing-app.ts';
import type { Readiness } from './engine/http/health.ts';
import { createHttpServer } from './engine/http/http-server.ts';
import { listen, toHttpUrl } from './engine/http/listen.ts';
import { metricsPage } from './engine/http/metrics-page.ts';
import { openOverload } from './engine/http/open-overload.ts';
import { createOrigins, type Origins } from './engine/http/origins.ts';
import { createProxyTrust } from './engine/http/proxy-trust.ts';
import { indexPublicFiles } from './engine/http/public-files.ts';
import { toSecurityHeaders } from './engine/http/security-headers.ts';
import { handleUpgrades } from './engine/http/upgrades.ts';
import type { ServerLog } from './engine/logger.ts';
import { describeNodeFloor } from './engine/node-floor.ts';
import type { OwnersFiles } from './engine/owners-files.ts';
import { createPages } from './engine/pages/pages.ts';
import { DESK_SHARE } from './limits.ts';
import { openDeskSide } from './open-desk-side.ts';
import { openFailures } from './open-failures.ts';
import { openGround } from './open-ground.ts';
import { mountApi } from './product/api/index.ts';
import { apiOrigins } from './product/api-origins.ts';
import { type AppContext, contextCreator } from './product/context.ts';
import { contentSources } from './product/csp.ts';
import { existingApp } from './product/existing-app.ts';
import { pages as serverPages } from './product/pages/index.ts';
import { reporting } from './product/reporting.ts';
import { createRoutes } from './product/routes.ts';
import { type ProductSettings, readProductSettings } from './product/settings.ts';
import { createSteps } from './product/steps.ts';
import { createUpgrades } from './product/upgrade.ts';
import { openUpstream } from './reporting/open-upstream.ts';
import { announce, serveUntilStopped } from './serve-until-stopped.ts';
import { startOrExit } from './start-or-exit.ts';
import { watchServer } from './watch-server.ts';

const DIST = join(import.meta.dirname, '..');

/** What is not needed may go, with its file. */
const owner: OwnersFiles<ProductSettings> = {
  steps: createSteps,
  routes: createRoutes,
  upgrades: createUpgrades,
  contentSources,
  apiOrigins,
  reporting,
  existingApp,
};

await startOrExit(start);

async function start(): Promise<void> {
  const ground = await openGround(DIST);
  const { config, manifest, release, log, flush, metrics, newcomer } = ground;
  const { count } = metrics;
  const settings = readProductSettings(process.env, config);
  const steps = owner.steps?.(settings) ?? [];
  const upstream = await openUpstream({ config, debugIds: manifest.debugIds, count, log });
  const failures = openFailures(ground, {
    routes,
    reporters: upstream.reporters,
    splitBy: owner.reporting?.splitBy,
    onFailure: process.env.SPILLWAY_DEV ? (...told) => development?.onFailure?.(...told) : undefined,
  });
  const { funnel, scrubber, scrubPath, inFlight } = failures;
  const trust = createProxyTrust(config.trustProxy);
  const origins = createOrigins(config.publicOrigins, toHttpUrl(config.host, config.port));
  const { earlyScript, reportPath, traced } = toDocumentParts(ground);
  const takesFeedback = owner.reporting?.feedback !== false;
  // A process that stands at a breakpoint is late, and refuses nothing to its developer.
  const { gate, overload } = openOverload({
    delayMs: process.env.SPILLWAY_DEV ? 0 : config.overloadDelay,
    maxPages: config.maxPages,
    count,
  });
  const bodies = createBodyReader();
  const pages = await createPages<AppContext>({
    routes,
    document: Document,
    errorPages,
    pages: serverPages,
    createContext: contextCreator(settings),
    sharedContext: { settings },
    manifest,
    funnel,
    policy: createContentPolicy(owner.contentSources, { earlyScript, reportPath, styleAttributes: true }),
    origins,
    takesFeedback,
    traceTargets: config.traceTargets,
    traced,
    compression: config.compression,
    isSecret: false,
    bodies,
    gate,
  });
  const readiness: Readiness = {
    get draining() {
      return drain.draining;
    },
    details: () => ({ ...desk.condition }),
  };
  // A new server of development waits here, until the one before it has let go of the store.
  const development = process.env.SPILLWAY_DEV
    ? await (await import('./engine/develop/development.ts')).createDevelopment({ dist: DIST, readiness })
    : undefined;
  const side = await openDeskSide(ground, failures, { beats: true });
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
  const upgrades = owner.upgrades?.(settings) ?? {};
  const existing = await loadExistingApp(owner.existingApp, join(DIST, '..'), log);
  const hasSockets = Object.keys(upgrades).length > 0;
  const files = development?.files ?? indexPublicFiles(join(DIST, 'client'));
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
    metricsPage: deskAt ? undefined : readMetrics,
    doctorPage: doctorPage({ origins, trust, mayRead, compression: config.compression, hasSockets }),
    overload,
    reportPath,
    tunnel: toTunnel(origins),
    desk: deskAt ? undefined : deskPages,
    deskApi: deskAt ? undefined : side.api,
    visitorId: owner.reporting?.visitorId,
    feedback: takesFeedback
      ? openFeedback({ feedback: side.feedback, origins, bodies, scrubber, toVisitor: visitors.toVisitor, log })
      : undefined,
    pages,
    api: mountApi({ settings }),
    apiOrigins: owner.apiOrigins,
    compression: config.compression,
    development: development?.routes,
    steps,
    routes: owner.routes?.(settings),
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
  server.on('connection', () => gate.noteConnection());
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
    createDeskServer(ground, failures, side, {
      origins: deskOrigins,
      trust,
      maxConnections: deskConnections,
      readiness,
      files,
      desk: deskPages,
      metricsPage: readMetrics,
      tunnel: toTunnel(deskOrigins),
    });
  const ending = { lag: config.drainLag, deadline: config.drainDeadline, onStop: deskPages.endStreams };
  const drain = joinDrains([
    createDrain({ server, connections, upgraded, ...ending }),
    ...(deskServer ? [createDrain({ ...deskServer, ...ending })] : []),
  ]);
  watchServer({ metrics, inFlight, connections, gate, overload, drain, desk, outbox: upstream.outbox });
  serveUntilStopped({
    config,
    drain,
    desk,
    funnel,
    async close() {
      await desk.close();
      await upstream.close();
      log.info(await metrics.listCounts(), 'What was counted since the start.');
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
  if (newcomer !== undefined) {
    await tellNewcomer(side.signIn.makeLink(deskUrl ?? config.publicOrigins[0] ?? url, newcomer), log);
  }
}

function warnOfNode(log: ServerLog['log']): void {
  const words = describeNodeFloor(process.versions.node);
  if (words !== undefined) log.warn(words);
}

/** What an operator may want to set. */
function logAdvice({ publicOrigins, host }: Config, log: ServerLog['log']): void {
  if (publicOrigins.length === 0) {
    log.warn(
      'PUBLIC_ORIGINS is not set, so every host is answered. Set it to the origins that visitors use, such as https://example.com.',
    );
  }
  if (host === 'localhost' || (isIP(host) > 0 && /^(?:127\.|::1$)/.test(host))) {
    log.info('Only this machine can reach the server. Set HOST to 0.0.0.0 to listen on every network.');
  }
}
