import { join } from 'node:path';
import { routes } from '../shared/desk/routes.tsx';
import { readConfig, readSettings, SETTINGS } from './config.ts';
import { createDeskApi } from './desk/api/desk-api.ts';
import { recordBlockedLoop } from './desk/blocked-loop.ts';
import { requireDataFolder } from './desk/data-folder.ts';
import { openDesk, orClose } from './desk/desk.ts';
import { createDeskApp, createDeskOrigins } from './desk/desk-app.ts';
import { toNotifySettings } from './desk/notify/to-notify-settings.ts';
import { createDeskPages } from './desk/pages/desk-pages.ts';
import { toMayRead } from './desk/sign-in/bearer.ts';
import { listTokens } from './desk/sign-in/list-tokens.ts';
import { openSignIn } from './desk/sign-in/open-sign-in.ts';
import { toProxySignIn } from './desk/sign-in/proxy-operator.ts';
import { tellNewcomer } from './desk/sign-in/tell-newcomer.ts';
import { openVisitors } from './desk/tunnel/visitors.ts';
import { toDeskFacts } from './desk-facts.ts';
import { createTableLoader } from './engine/errors/create-table-loader.ts';
import { createFunnel } from './engine/errors/funnel.ts';
import { createPathScrubber } from './engine/errors/scrub/secret-path.ts';
import { createDrain } from './engine/http/drain.ts';
import { createHttpServer } from './engine/http/http-server.ts';
import { InFlight } from './engine/http/in-flight.ts';
import { listen, toHttpUrl } from './engine/http/listen.ts';
import { metricsPage } from './engine/http/metrics-page.ts';
import { createProxyTrust } from './engine/http/proxy-trust.ts';
import { indexPublicFiles } from './engine/http/public-files.ts';
import { toSecurityHeaders } from './engine/http/security-headers.ts';
import { createLogger } from './engine/logger.ts';
import { createMetrics } from './engine/metrics/metrics.ts';
import { createEnvironmentScrubber } from './environment-scrubber.ts';
import { readManifest } from './read-manifest.ts';
import { announce, serveUntilStopped } from './serve-until-stopped.ts';
import { startOrExit } from './start-or-exit.ts';
import { watchServer } from './watch-server.ts';

// DESK_ONLY=1: the desk, its store and health, for when the product cannot start. `main.ts` imports
// this first, and all that it imports after it is not evaluated: whatever is broken there.

const DIST = join(import.meta.dirname, '..');

await startOrExit(async () => {
  if (!readSettings({ DESK_ONLY: SETTINGS.DESK_ONLY }, process.env).DESK_ONLY) return;
  await startDesk();
  await new Promise<never>(() => {}); // it ends with the process
});

async function startDesk(): Promise<void> {
  const terminal = process.stdout.isTTY === true;
  const config = readConfig(process.env, { terminal });
  const manifest = readManifest(DIST);
  const release = config.release ?? manifest.release ?? manifest.buildId;
  const { log, flush } = await createLogger({ level: config.logLevel, terminal });
  requireDataFolder(config.dataDir);
  const { tokens, newcomer } = listTokens(config, log);
  const proxy = toProxySignIn(config);
  const told = toNotifySettings(config);
  // The site is down: whoever waits for its heartbeat is to notice.
  const notify = told && { ...told, heartbeatUrl: undefined };
  const scrubber = createEnvironmentScrubber(process.env, config, routes).with(tokens.map(({ token }) => token));
  const scrubPath = createPathScrubber(scrubber);
  const funnel = createFunnel({
    log,
    reporters: [{ report: (failure, error) => desk.reporter.report(failure, error) }],
    namespace: config.digestNamespace,
    build: manifest.buildId,
    release,
    paths: { dist: DIST },
    table: createTableLoader(DIST, log),
    scrubber,
    toVisitor: (address, id) => toSender(address, id),
    count: (...counted) => metrics.count(...counted),
  });
  const inFlight = new InFlight(scrubPath);
  const metrics = createMetrics({ build: manifest.buildId, release, process: true });
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
    count: metrics.count,
    log,
  });
  const where = { host: config.host, port: config.deskPort ?? config.port };
  const origins = createDeskOrigins(toHttpUrl(where.host, where.port));
  const toSender = openVisitors(() => desk.ask('readSalt'));
  const signIn = openSignIn({ tokens, proxy, desk, toSender });
  const facts = toDeskFacts(config, release, notify);
  const deskPages = await createDeskPages({
    desk,
    readAccess: signIn.readAccess,
    facts,
    manifest,
    funnel,
    origins,
  });
  const app = createDeskApp({
    log,
    funnel,
    origins,
    trust: createProxyTrust(config.trustProxy),
    readiness: {
      get draining() {
        return drain.draining;
      },
      details: () => ({ ...desk.condition }),
    },
    files: indexPublicFiles(join(DIST, 'client')),
    desk: deskPages,
    api: createDeskApi({ desk, facts, checkBearer: signIn.checkBearer, toSender }),
    compression: config.compression,
    inFlight,
    scrubPath,
    metrics,
    metricsPage: metricsPage({
      metrics,
      mayRead: config.deskPort === undefined ? toMayRead({ check: signIn.checkBearer, toSender }) : async () => true,
    }),
  });
  const { server, connections } = createHttpServer(app, {
    log,
    count: metrics.count,
    keepAlive: config.keepAlive,
    headers: toSecurityHeaders(origins),
  });
  const drain = createDrain({
    server,
    connections,
    onStop: deskPages.endStreams,
    lag: config.drainLag,
    deadline: config.drainDeadline,
  });
  watchServer({ metrics, inFlight, connections, drain, desk });
  serveUntilStopped({ config, drain, desk, funnel, close: () => desk.close(), log, flush });

  const url = await orClose(desk, listen(server, where));
  announce(url, log);
  log.warn('DESK_ONLY is set: the desk alone is served, and nothing of the site. Unset it to serve the site again.');
  if (newcomer !== undefined) await tellNewcomer(signIn.makeLink(url, newcomer), log);
}
