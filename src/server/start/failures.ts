import type { Logger } from 'pino';
import { listPatterns, type RouteLine } from '../../shared/routing/routes.ts';
import type { Config } from '../config.ts';
import type { ProductReporting } from '../define-product.ts';
import { createFailureMaker } from '../errors/create-failure.ts';
import { createTableLoader, type LocationTable } from '../errors/digest/location-table.ts';
import { createFunnel, type FailureSinks } from '../errors/funnel.ts';
import { reportTo } from '../errors/report.ts';
import { listPathPatterns } from '../errors/scrub/secret-path.ts';
import { listEnvironmentSecrets } from '../errors/scrub/secret-values.ts';
import { createScrubber, type Scrubber } from '../errors/scrub.ts';
import { openSentry } from '../reports/sentry/open-sentry.ts';
import type { Tracker } from '../tracker/tracker.ts';
import type { Basics } from './basics.ts';

export type Failures = Awaited<ReturnType<typeof openFailures>>;

interface FailuresOptions {
  readonly reporting: ProductReporting | undefined;
  /** The routes of the product. */
  readonly routes: readonly RouteLine[];
  /** Tokens and other texts that no failure can contain. */
  readonly secrets: readonly string[];
  readonly tracker: Pick<Tracker, 'toUrl'> | undefined;
}

/** Opens the path from a thrown error to the log, the tracker and Sentry. */
export async function openFailures(
  { config, build, log, metrics }: Basics,
  { reporting, routes, secrets, tracker }: FailuresOptions,
) {
  const { dist, manifest, release } = build;
  const { count } = metrics;
  const scrubber = createEnvironmentScrubber(config, routes, secrets);
  const table = await createTable(dist, log);
  const sentry = await openSentry({ config, debugIds: manifest.debugIds, count, toUrl: tracker?.toUrl });
  // Until the tracker has opened, a failure is only logged, in full.
  const sinks: FailureSinks = { tracker: tracker && { record: () => false } };
  const toFailure = createFailureMaker(
    { build: manifest.buildId, release, namespace: config.digestNamespace, paths: { dist }, table },
    { scrubber, splitBy: reporting?.splitBy, keep: reporting?.keep },
  );
  const funnel = createFunnel(toFailure, {
    log,
    count,
    sinks,
    reporters: sentry ? [sentry.reporter] : [],
    toUrl: tracker?.toUrl,
  });
  reportTo(funnel);
  return { funnel, sinks, scrubber, table, sentry };
}

/** Under `npm run dev`, positions come from the sources themselves. */
async function createTable(dist: string, log: Logger): Promise<() => LocationTable> {
  if (!process.env.SPILLWAY_DEV) return createTableLoader(dist, log);
  const { createSourceTable } = await import('../develop/source-table.ts');
  const table = createSourceTable(dist);
  return () => table;
}

/** Creates a scrubber that knows the secrets in settings and in URL patterns, because a message can contain one. */
function createEnvironmentScrubber(
  { scrubKeys: keys, scrubPatterns }: Config,
  routes: readonly RouteLine[],
  secrets: readonly string[],
): Scrubber {
  const named = createScrubber({ keys });
  const patterns = [...scrubPatterns, ...listPathPatterns(listPatterns(routes), named)];
  const scrubber = createScrubber({ keys, patterns });
  return scrubber.with([...listEnvironmentSecrets(process.env, scrubber), ...secrets]);
}
