import { join } from 'node:path';
import type { ErrorPages } from '../../shared/rendering/engine-context.ts';
import type { DocumentComponent } from '../../shared/rendering/language.ts';
import type { RouteDefinition } from '../../shared/routing/routes.ts';
import { ASSET_PREFIX } from '../../shared/wire/protocol.ts';
import { SETTINGS } from '../config.ts';
import type { Product } from '../define-product.ts';
import { requireMembers } from '../errors/wiring-error.ts';
import { createContentPolicy } from '../front/content-policy.ts';
import { loadExistingApp } from '../front/existing-app.ts';
import { CHECK_PATH } from '../front/fixed-paths.ts';
import { InFlight } from '../front/in-flight.ts';
import { openOverload } from '../front/overload.ts';
import { readPublicFile } from '../front/public-files.ts';
import type { Upgrades } from '../front/upgrades.ts';
import { createPages } from '../pages/page-handlers.ts';
import { dropCached, shareRevalidations } from '../pages/revalidate.ts';
import { createAppLog } from '../request/app-log.ts';
import type { Origins } from '../request/origins.ts';
import { createIsUnreachable, toSpelling } from '../request/paths.ts';
import { listMisspelled } from '../settings.ts';
import type { PageReporting, Tracker } from '../tracker/tracker.ts';
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
  const { dist, routes, tracker: declared } = site;
  const { basics, access, origins, page, configured, flush } = await readBasics(dist, declared);
  const { config, build, log, metrics } = basics;
  const failures = await openFailures(basics, {
    reporting: site.product.reporting,
    routes,
    secrets: [...(configured?.secrets ?? []), ...access.tokens.all.map(({ token }) => token)],
    tracker: declared,
  });
  const { funnel, scrubber, sentry, sinks, table } = failures;
  const product = await openProduct(site, basics, { funnel, scrubber, table, origins, page });
  // A new development server waits here until the previous one has released the store. If anything above fails, the
  // previous one continues.
  const development = process.env.SPILLWAY_DEV
    ? await (await import('../develop/development.ts')).createDevelopment({ dist, log })
    : undefined;
  sinks.onFailure = development?.onFailure;
  const inFlight = new InFlight();
  const records = { log, metrics, funnel, inFlight: inFlight.shared };
  const tracker = await waitFor(
    'The tracker has not opened',
    configured?.open({ config, build, records, access, page, dropCached }),
  );
  sinks.tracker = tracker;
  shareRevalidations((path) => tracker?.shareRevalidation?.(path));
  return {
    basics,
    access,
    page,
    failures,
    inFlight,
    product,
    tracker,
    /** The tracker as it was before it was opened: with its paths and routes. */
    declared,
    /** All routes, whose patterns reports can name. */
    routes: [...routes, ...(declared?.routes ?? [])],
    /** The origins of PORT. */
    origins,
    /** Under `npm run dev`. */
    development,
    /** Closes the services, then the tracker, and says so. */
    async close(): Promise<void> {
      await product.close();
      await Promise.all([tracker?.close(), sentry?.close()]);
      log.info('Stopped.');
    },
    /** Writes out buffered log lines. */
    flush,
  };
}

/** The parts of a site that its product uses. */
interface ProductHost extends Pick<Failures, 'funnel' | 'scrubber' | 'table'> {
  readonly origins: Origins;
  readonly page: PageReporting;
}

/** Opens the services, and makes everything that serves the product. */
async function openProduct<Settings, Services, Own extends object>(
  { product, routes, document, errorPages, tracker }: Omit<Site<Settings, Services, Own>, 'dist'>,
  { config, build, log, metrics }: Basics,
  { funnel, scrubber, table, origins, page }: ProductHost,
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
  const { limiter, overload } = openOverload({ delayMs, maxPages: config.maxPages, count: metrics.count, log });
  const { earlyScript, reportPath } = page;
  const policy = createContentPolicy(product.contentSources, { earlyScript, reportPath, styleAttributes: true });
  const isUnreachable = createIsUnreachable(
    [CHECK_PATH, config.tunnelPath, reportPath],
    [
      ...(product.existingApp ? [] : [ASSET_PREFIX.slice(0, -1)]), // an app's assets can be there, and pages too
      ...(config.deskPort === undefined ? (tracker?.paths ?? []) : []),
    ],
  );
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
      traces: {
        targets: config.traceTargets,
        project: {
          release: build.release,
          environment: config.sentryEnvironment,
          publicKey: config.sentryDsn?.publicKey,
        },
      },
      limiter,
      findTaker(path) {
        if (isUnreachable(path)) return 'the server itself';
        const isFile = readPublicFile(join(build.dist, 'client'), toSpelling(path)) !== undefined;
        return isFile ? `src/client/public${path}` : undefined;
      },
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
