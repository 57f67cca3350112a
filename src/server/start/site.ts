import { join } from 'node:path';
import type { ComponentType } from 'react';
import type { DocumentProps, ErrorPages } from '../../shared/rendering/engine-context.ts';
import type { RouteDefinition } from '../../shared/routing/routes.ts';
import { createApp } from '../app.ts';
import type { Config } from '../config.ts';
import { readOpenFileLimit, toConnectionLimits, toMaxConnections } from '../connection/connections.ts';
import { createDrain, joinDrains } from '../connection/drain.ts';
import { createHttpServer } from '../connection/http-server.ts';
import { listen, toHttpUrl } from '../connection/listen.ts';
import { describeNodeFloor } from '../connection/node-floor.ts';
import { type Product, requireProduct, toContextMaker } from '../define-product.ts';
import { openDestination, toFailureLinks } from '../destination.ts';
import type { Development } from '../develop/development.ts';
import { requireMembers } from '../errors/wiring-error.ts';
import { checkPage } from '../front/check-page.ts';
import { createContentPolicy } from '../front/content-policy.ts';
import { loadExistingApp } from '../front/existing-app.ts';
import { metricsPage, type Readiness } from '../front/fixed-paths.ts';
import { openOverload } from '../front/overload.ts';
import { indexPublicFiles } from '../front/public-files.ts';
import { toSecurityHeaders } from '../front/security-headers.ts';
import { handleUpgrades } from '../front/upgrades.ts';
import { createPages } from '../pages/page-handlers.ts';
import { createEarlyScript } from '../pages/render/early-script.ts';
import { openSentry } from '../reports/sentry/open-sentry.ts';
import { openTunnel } from '../reports/tunnel.ts';
import { createAppLog } from '../request/app-log.ts';
import { createProxyTrust } from '../request/client-address.ts';
import { createOrigins } from '../request/origins.ts';
import type { TracedProject } from '../request/trace-headers.ts';
import { type Bootstrap, bootstrap } from './bootstrap.ts';
import type { TunnelParts } from './destination.ts';
import type { ServerLog } from './logger.ts';
import { openFailures } from './open-failures.ts';
import { announce, keepRequestsYoung, serveUntilStopped } from './serve-until-stopped.ts';
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
  requireProduct(product);
  const boot = await bootstrap(dist);
  const { config, manifest, release, log, flush, metrics } = boot;
  const { count } = metrics;
  const settings = product.settings.read(process.env, config);
  const links = toFailureLinks(config);
  const sentry = await openSentry({ config, debugIds: manifest.debugIds, count, toUrl: links.toUrl });
  const table = process.env.SPILLWAY_DEV
    ? (await import('../develop/source-table.ts')).createSourceTable(dist)
    : undefined;
  let development: Development | undefined;
  const failures = openFailures(boot, {
    routes,
    links,
    table,
    reporters: sentry ? [sentry.reporter] : [],
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
  requireMembers('steps', steps, (step) => typeof step === 'function');
  const createContext = toContextMaker(product, parts);
  const trust = createProxyTrust(config.trustProxy);
  const origins = createOrigins(config.publicOrigins, toHttpUrl(config.host, config.port));
  const { earlyScript, reportPath, traced } = toDocumentParts(boot);
  // A process that is paused at a breakpoint seems overloaded, so nothing is refused during development.
  const { limiter, overload } = openOverload({
    delayMs: process.env.SPILLWAY_DEV ? 0 : config.overloadDelay,
    maxPages: config.maxPages,
    count,
  });
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
    traceTargets: config.traceTargets,
    traced,
    compression: config.compression,
    isSecret: false,
    limiter,
  });
  const readiness: Readiness = {
    get draining() {
      return drain.draining;
    },
    details: () => destination.details(),
  };
  // A new development server waits here until the previous one has released the store. If anything above fails, the
  // previous one continues.
  if (process.env.SPILLWAY_DEV) {
    development = await (await import('../develop/development.ts')).createDevelopment({ dist, log });
  }
  const destination = await openDestination(boot, failures);
  const { visitors, mayRead, takeCredentials } = destination;
  const files = development?.files ?? indexPublicFiles(dist);
  const maxConnections = toMaxConnections(readOpenFileLimit());
  const operators = await destination.serve({
    ...{ origins, trust, files, readiness, maxConnections, earlyScript, reportPath, traced, toTunnel },
    metricsPage: (mayRead) => metricsPage({ metrics, mayRead }),
  });
  const upgrades = product.upgrades?.(parts) ?? {};
  const existing = await loadExistingApp(product.existingApp, join(dist, '..'), log);
  const app = createApp({
    log,
    funnel,
    origins,
    trust,
    readiness,
    files,
    findOldAsset: destination.findOldAsset,
    inFlight,
    scrubPath,
    takeCredentials,
    metrics,
    metricsPage: operators.metrics,
    checkPage: checkPage({ trust, mayRead }),
    overload,
    reportPath,
    tunnel: toTunnel({ origins, mayOpen: operators.mayOpen, routes: operators.routes }),
    operators: operators.app,
    visitorId: product.reporting?.visitorId,
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
  const { server, connections } = createHttpServer(app, {
    log,
    limits: toConnectionLimits(maxConnections - operators.connections, config.maxConnectionsPerAddress),
    trust,
    count,
    times: config.times,
    headers: toSecurityHeaders(origins),
  });
  const upgraded = handleUpgrades(server, {
    upgrades,
    existing: existing?.server,
    takeCredentials,
    steps,
    origins,
    trust,
    connections,
    log,
    scrubPath,
    funnel,
  });
  const onStop = (): void => {
    operators.endStreams();
    development?.endStreams();
  };
  const ending = { lag: config.drainLag, deadline: config.drainDeadline, onStop };
  const drain = joinDrains([
    createDrain({ server, connections, upgraded, ...ending }),
    ...(operators.server ? [createDrain({ ...operators.server, ...ending })] : []),
  ]);
  watchServer({ metrics, inFlight, connections, limiter, overload, drain });
  destination.watch(metrics);
  serveUntilStopped({
    config,
    drain,
    destination,
    funnel,
    async close() {
      await closeServices();
      await destination.close();
      await sentry?.close();
      log.info(await metrics.listCounts(), 'Counts since the start.');
    },
    log,
    flush,
  });

  const isFirst = development?.isFirst !== false;
  let url: string;
  try {
    url = development ? toHttpUrl(config.host, config.port) : await listen(server, config);
    await development?.listen(server, config);
    announce(url, log);
    keepRequestsYoung();
    if (isFirst) logAdvice(config, log);
    if (!development) warnOfNode(log);
    await operators.listen();
  } catch (error) {
    // Otherwise the next start would report that this process died.
    await destination.close();
    throw error;
  }
  await destination.settleIn({ isEdited: !isFirst });
  if (isFirst) await operators.welcome(url);

  function toTunnel({ origins: of, mayOpen, routes: others }: TunnelParts) {
    return openTunnel({
      path: config.tunnelPath,
      store: destination.store,
      upstream: sentry?.upstream,
      environment: config.sentryEnvironment,
      build: manifest.buildId,
      release,
      namespace: config.digestNamespace,
      table: failures.table,
      scrubber,
      origins: of,
      routes: [...routes, ...others],
      visitors,
      toUrl: (address) => funnel.toUrl(address),
      mayOpen,
      count,
      log,
    });
  }
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

/** Returns the parts of documents that let browsers report. */
function toDocumentParts({ config, manifest, release }: Bootstrap) {
  const { tunnelPath: tunnel, sentryDsn: dsn, sentryEnvironment: environment } = config;
  return {
    earlyScript: createEarlyScript({ tunnel, dsn: dsn?.text, build: manifest.buildId, release, environment }),
    /** The path for reports that browsers send automatically. */
    reportPath: `${tunnel}/browser`,
    traced: { release, environment, publicKey: dsn?.publicKey } satisfies TracedProject,
  };
}
