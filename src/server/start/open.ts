import { join } from 'node:path';
import type { ErrorPages } from '../../shared/rendering/engine-context.ts';
import type { DocumentComponent } from '../../shared/rendering/language.ts';
import type { RouteDefinition } from '../../shared/routing/routes.ts';
import { SETTINGS } from '../config.ts';
import { toHttpUrl } from '../connection/listen-on.ts';
import type { Product } from '../define-product.ts';
import { requireMembers } from '../errors/wiring-error.ts';
import { createContentPolicy } from '../front/content-policy.ts';
import { loadExistingApp } from '../front/existing-app.ts';
import { openOverload } from '../front/overload.ts';
import type { Upgrades } from '../front/upgrades.ts';
import { createPages } from '../pages/page-handlers.ts';
import { dropCached, shareRevalidations } from '../pages/revalidate.ts';
import { createAppLog } from '../request/app-log.ts';
import { createOrigins, type Origins } from '../request/origins.ts';
import { listMisspelled } from '../settings.ts';
import type { OpenedTracker, Tracker } from '../tracker/tracker.ts';
import { type Basics, readBasics } from './basics.ts';
import { type Failures, openFailures } from './failures.ts';
import { openServices } from './services.ts';
import { waitFor } from './wait-for.ts';

/** What a server is made of. */
export interface Site<Settings, Services, Own extends object> {
  /** The folder of the build. */
  readonly dist: string;
  readonly product: Product<Settings, Services, Own>;
  readonly routes: readonly RouteDefinition[];
  readonly document: DocumentComponent;
  readonly errorPages: ErrorPages;
  /** Stores failures and shows them. Without one, they are logged, and sent to Sentry if it is configured. */
  readonly tracker?: Tracker;
}

/** Everything that a server needs before it can be connected to a port. */
export type Opened = Awaited<ReturnType<typeof open>>;

/**
 * Opens settings and log, failures, the product, and the tracker.
 *
 * @throws StartError
 */
export async function open<Settings, Services, Own extends object>(site: Site<Settings, Services, Own>) {
  const basics = await readBasics(site.dist, site.routes, site.tracker);
  const { config, build, log } = basics;
  const failures = await openFailures(basics, site.product.reporting);
  const origins = createOrigins(config.publicOrigins, toHttpUrl(config.host, config.port));
  const product = await openProduct(site, basics, failures, origins);
  // A new development server waits here until the previous one has released the store. If anything above fails, the
  // previous one continues.
  const development = process.env.SPILLWAY_DEV
    ? await (await import('../develop/development.ts')).createDevelopment({ dist: build.dist, log })
    : undefined;
  failures.sinks.onFailure = development?.onFailure;
  const tracker = await waitFor('The tracker has not opened', openTracker(basics, failures, origins));
  failures.sinks.tracker = tracker;
  shareRevalidations((path) => tracker?.shareRevalidation?.(path));
  return {
    basics,
    failures,
    product,
    tracker,
    /** The origins of PORT. */
    origins,
    /** Under `npm run dev`. */
    development,
  };
}

/** Opens the services, and makes everything that serves the product. */
async function openProduct<Settings, Services, Own extends object>(
  { product, routes, document, errorPages, tracker }: Site<Settings, Services, Own>,
  { config, build, page, log, metrics }: Basics,
  { funnel, scrubber, table }: Failures,
  origins: Origins,
) {
  const settings = product.settings.read(process.env, config);
  const known = Object.keys({ ...SETTINGS, ...tracker?.settings, ...product.settings.table });
  const sentences = [...listMisspelled(process.env, known), ...(product.settings.listWarnings?.(process.env) ?? [])];
  for (const sentence of sentences) log.warn(sentence);
  const appLog = createAppLog(log);
  const { services, close } = await openServices(product.services, settings, {
    scrubber,
    log: appLog,
    dist: build.dist,
    table,
  });
  const parts = { settings, services };
  const steps = product.steps?.(parts) ?? [];
  requireMembers('steps', steps, (step) => typeof step === 'function');
  // A process that is paused at a breakpoint seems overloaded, so nothing is refused during development.
  const delayMs = process.env.SPILLWAY_DEV ? 0 : config.overloadDelay;
  const { limiter, overload } = openOverload({ delayMs, maxPages: config.maxPages, count: metrics.count });
  const { earlyScript, reportPath, traced } = page;
  const policy = createContentPolicy(product.contentSources, { earlyScript, reportPath, styleAttributes: true });
  const pages = await createPages({
    app: {
      routes,
      document,
      errorPages,
      pages: product.pages,
      createContext: product.context,
      sharedContext: parts,
    },
    server: {
      manifest: build.manifest,
      funnel,
      log: appLog,
      policy,
      origins,
      traceTargets: config.traceTargets,
      traced,
      limiter,
    },
    settings: { isSecret: false, compression: config.compression },
  });
  const upgrades: Upgrades = product.upgrades?.(parts) ?? {};
  const existingApp = loadExistingApp(product.existingApp, join(build.dist, '..'), log);
  return {
    parts: {
      pages,
      steps,
      overload,
      api: {
        parts: product.api?.(parts),
        document: product.apiDocument,
        store: product.apiStore?.(parts),
        origins: product.apiOrigins,
      },
      routes: product.routes?.(parts),
      existingApp: await waitFor('The existing app has not loaded', existingApp),
      visitorId: product.reporting?.visitorId,
    },
    upgrades,
    /** The content policy of JavaScript files. */
    scriptPolicy: policy.forScriptFiles(),
    /** Limits the pages in progress. */
    limiter,
    /** Closes the services. */
    close,
  };
}

async function openTracker(
  basics: Basics,
  { funnel, inFlight }: Failures,
  origins: Origins,
): Promise<OpenedTracker | undefined> {
  const { config, build, log, metrics, page } = basics;
  const { tokens, isTokenNew, checkToken } = basics.access;
  return basics.configured?.open({
    config,
    build,
    records: { log, metrics, funnel, inFlight: inFlight.shared },
    access: {
      tokens,
      isTokenNew,
      checkToken,
      origins: config.deskPort === undefined ? origins : toDeskOrigins(config.host, config.deskPort),
    },
    page,
    dropCached,
  });
}

/**
 * Accepts any host on DESK_PORT, because an internal network can have any name or address for it. A form must still come
 * from the host that it is posted to.
 */
export function toDeskOrigins(host: string, port: number): Origins {
  return createOrigins([], toHttpUrl(host, port));
}
