// First, because with DESK_ONLY=1 nothing below it is evaluated.
import './desk-only.ts';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { routes as deskRoutes } from '../shared/desk/routes.tsx';
import { Document } from '../shared/product/document.tsx';
import { errorPages } from '../shared/product/error-pages.tsx';
import { routes } from '../shared/product/routes.tsx';
import { createApp } from './app.ts';
import { type Config, readConfig } from './config.ts';
import { createDeskApi } from './desk/api/desk-api.ts';
import { recordBlockedLoop } from './desk/blocked-loop.ts';
import { requireDataFolder } from './desk/data-folder.ts';
import { openDesk, orClose } from './desk/desk.ts';
import { createDeskApp, createDeskOrigins } from './desk/desk-app.ts';
import { openFeedback } from './desk/feedback/open-feedback.ts';
import { toNotifySettings } from './desk/notify/to-notify-settings.ts';
import { createDeskPages } from './desk/pages/desk-pages.ts';
import { toMayRead } from './desk/sign-in/bearer.ts';
import { listTokens } from './desk/sign-in/list-tokens.ts';
import { openSignIn } from './desk/sign-in/open-sign-in.ts';
import { toProxySignIn } from './desk/sign-in/proxy-operator.ts';
import { tellNewcomer } from './desk/sign-in/tell-newcomer.ts';
import { openTunnel } from './desk/tunnel/open-tunnel.ts';
import { openVisitors } from './desk/tunnel/visitors.ts';
import { toDeskFacts } from './desk-facts.ts';
import { createTableLoader } from './engine/errors/create-table-loader.ts';
import { createFunnel } from './engine/errors/funnel.ts';
import { createPathScrubber } from './engine/errors/scrub/secret-path.ts';
import { createContentPolicy } from './engine/http/content-policy.ts';
import { doctorPage } from './engine/http/doctor-page.ts';
import { createDrain, joinDrains } from './engine/http/drain.ts';
import { createEarlyScript } from './engine/http/early-script.ts';
import { loadExistingApp } from './engine/http/existing-app.ts';
import type { Readiness } from './engine/http/health.ts';
import { createHttpServer } from './engine/http/http-server.ts';
import { InFlight } from './engine/http/in-flight.ts';
import { listen, toHttpUrl } from './engine/http/listen.ts';
import { metricsPage } from './engine/http/metrics-page.ts';
import { openOverload } from './engine/http/open-overload.ts';
import { createOrigins, type Origins } from './engine/http/origins.ts';
import { createProxyTrust } from './engine/http/proxy-trust.ts';
import { indexPublicFiles } from './engine/http/public-files.ts';
import { toSecurityHeaders } from './engine/http/security-headers.ts';
import { handleUpgrades } from './engine/http/upgrades.ts';
import { createLogger, type ServerLog } from './engine/logger.ts';
import { createMetrics } from './engine/metrics/metrics.ts';
import { describeNodeFloor } from './engine/node-floor.ts';
import type { OwnersFiles } from './engine/owners-files.ts';
import { createPages } from './engine/pages/pages.ts';
import { createEnvironmentScrubber } from './environment-scrubber.ts';
import { mountApi } from './product/api/index.ts';
import { type AppContext, contextCreator } from './product/context.ts';
import { contentSources } from './product/csp.ts';
import { existingApp } from './product/existing-app.ts';
import { pages as serverPages } from './product/pages/index.ts';
import { reporting } from './product/reporting.ts';
import { createRoutes } from './product/routes.ts';
import { type ProductSettings, readProductSettings } from './product/settings.ts';
import { createSteps } from './product/steps.ts';
import { createUpgrades } from './product/upgrade.ts';
import { readManifest } from './read-manifest.ts';
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
  reporting,
  existingApp,
};

await startOrExit(start);

async function start(): Promise<void> {
  const terminal = process.stdout.isTTY === true;
  const config = readConfig(process.env, { terminal });
  const settings = readProductSettings(process.env, config);
  const manifest = readManifest(DIST);
  const { log, flush } = await createLogger({ level: config.logLevel, terminal });
  const release = config.release ?? manifest.release ?? manifest.buildId;
  const metrics = createMetrics({ build: manifest.buildId, release, process: true });
  const { count } = metrics;
  const traced = {
    release,
    environment: config.sentryEnvironment,
    publicKey: config.sentryDsn?.publicKey,
  };
  const upstream = await openUpstream({ config, debugIds: manifest.debugIds, count, log });
  const table = createTableLoader(DIST, log);
  requireDataFolder(config.dataDir);
  const { tokens, newcomer } = listTokens(config, log);
  const proxy = toProxySignIn(config);
  const notify = toNotifySettings(config);
  const scrubber = createEnvironmentScrubber(process.env, config, routes).with(tokens.map(({ token }) => token));
  const funnel = createFunnel({
    log,
    count,
    // The desk first: what is shown is stored by then.
    reporters: [{ report: (failure, error) => desk.reporter.report(failure, error) }, ...upstream.reporters],
    namespace: config.digestNamespace,
    build: manifest.buildId,
    release,
    paths: { dist: DIST },
    table,
    scrubber,
    splitBy: owner.reporting?.splitBy,
    toVisitor: (address, id) => toVisitor(address, id),
    onFailure: process.env.SPILLWAY_DEV ? (...told) => development?.onFailure?.(...told) : undefined,
  });
  const trust = createProxyTrust(config.trustProxy);
  const steps = owner.steps?.(settings);
  const origins = createOrigins(config.publicOrigins, toHttpUrl(config.host, config.port));
  const reportPath = `${config.tunnelPath}/browser`;
  const earlyScript = createEarlyScript({
    tunnel: config.tunnelPath,
    dsn: config.sentryDsn?.text,
    build: manifest.buildId,
    release,
    environment: config.sentryEnvironment,
  });
  // A process that stands at a breakpoint is late, and refuses nothing to its developer.
  const { gate, overload } = openOverload({
    delayMs: process.env.SPILLWAY_DEV ? 0 : config.overloadDelay,
    maxPages: config.maxPages,
    count,
  });
  const pages = await createPages<AppContext>({
    routes,
    document: Document,
    errorPages,
    pages: serverPages,
    createContext: contextCreator(settings),
    sharedContext: { settings },
    manifest,
    funnel,
    policy: createContentPolicy(owner.contentSources, { earlyScript, reportPath }),
    origins,
    takesFeedback: owner.reporting?.feedback !== false,
    traceTargets: config.traceTargets,
    traced,
    compression: config.compression,
    gate,
  });
  const readiness: Readiness = {
    get draining() {
      return drain.draining;
    },
    details: () => ({ ...desk.condition }),
  };
  const development = process.env.SPILLWAY_DEV
    ? await (await import('./engine/develop/development.ts')).createDevelopment({ dist: DIST, readiness })
    : undefined;
  const scrubPath = createPathScrubber(scrubber);
  const inFlight = new InFlight(scrubPath);
  const desk = await openDesk({
    dataDir: config.dataDir,
    databaseUrl: config.deskDatabaseUrl,
    build: manifest.buildId,
    release,
    environment: config.sentryEnvironment,
    namespace: config.digestNamespace,
    dist: DIST,
    notify,
    inFlight: () => inFlight.list(),
    onBlockedLoop: (report) => recordBlockedLoop(funnel, report),
    count,
    log,
  });
  const toVisitor = openVisitors(() => desk.ask('readSalt'));
  const deskAt = config.deskPort === undefined ? undefined : { host: config.host, port: config.deskPort };
  const deskOrigins = deskAt && createDeskOrigins(toHttpUrl(deskAt.host, deskAt.port));
  const signIn = openSignIn({ tokens, proxy, desk, toSender: toVisitor });
  const facts = toDeskFacts(config, release, notify);
  const deskApi = createDeskApi({ desk, facts, checkBearer: signIn.checkBearer, toSender: toVisitor });
  const deskPages = await createDeskPages({
    desk,
    readAccess: signIn.readAccess,
    facts,
    manifest,
    funnel,
    origins: deskOrigins ?? origins,
    earlyScript,
    reportPath,
    traced,
  });
  const mayRead = toMayRead({ check: signIn.checkBearer, toSender: toVisitor });
  const readMetrics = metricsPage({ metrics, mayRead: deskAt ? async () => true : mayRead });
  const upgrades = owner.upgrades?.(settings);
  const files = development?.files ?? indexPublicFiles(join(DIST, 'client'));
  const feedback =
    owner.reporting?.feedback === false ? undefined : openFeedback({ desk, origins, scrubber, toVisitor, log });
  const toTunnel = (of: Origins) =>
    openTunnel({
      path: config.tunnelPath,
      desk,
      upstream: config.sentryDsn && upstream.outbox && { dsn: config.sentryDsn.text, outbox: upstream.outbox },
      environment: config.sentryEnvironment,
      build: manifest.buildId,
      release,
      namespace: config.digestNamespace,
      table,
      scrubber,
      origins: of,
      routes: [...routes, ...deskRoutes],
      toVisitor,
      isOperator: deskAt ? undefined : deskPages.isOperator,
      count,
      log,
    });
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
    metrics,
    metricsPage: deskAt ? undefined : readMetrics,
    doctorPage: doctorPage({
      origins,
      trust,
      mayRead,
      compression: config.compression,
      hasSockets: Object.keys(upgrades ?? {}).length > 0,
    }),
    overload,
    reportPath,
    tunnel: toTunnel(origins),
    desk: deskAt ? undefined : deskPages,
    deskApi: deskAt ? undefined : deskApi,
    visitorId: owner.reporting?.visitorId,
    feedback,
    pages,
    api: mountApi({ settings }),
    compression: config.compression,
    development: development?.routes,
    steps,
    routes: owner.routes?.(settings),
    existingApp: await loadExistingApp(owner.existingApp, join(DIST, '..')),
  });
  const { server, connections } = createHttpServer(app, {
    log,
    count,
    keepAlive: config.keepAlive,
    headers: toSecurityHeaders(origins),
  });
  server.on('connection', () => gate.noteConnection());
  const upgraded = upgrades && handleUpgrades(server, { upgrades, steps, origins, trust, log, funnel });
  const deskServer =
    deskOrigins &&
    createHttpServer(
      createDeskApp({
        log,
        funnel,
        origins: deskOrigins,
        trust,
        readiness,
        files,
        desk: deskPages,
        api: deskApi,
        compression: config.compression,
        inFlight,
        scrubPath,
        metrics,
        metricsPage: readMetrics,
        tunnel: toTunnel(deskOrigins),
      }),
      { log, count, keepAlive: config.keepAlive, headers: toSecurityHeaders(deskOrigins) },
    );
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
    await tellNewcomer(signIn.makeLink(deskUrl ?? config.publicOrigins[0] ?? url, newcomer), log);
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
