import { listPatterns, type RouteLine } from '../../shared/routing/routes.ts';
import type { Config } from '../config.ts';
import { listDestinationSecrets } from '../destination-settings.ts';
import { createTableLoader, type LocationTable } from '../errors/digest/location-table.ts';
import type { FailureLinks, Reporter } from '../errors/failure.ts';
import { createFunnel, type Funnel, type FunnelOptions } from '../errors/funnel.ts';
import { reportTo } from '../errors/report.ts';
import { createPathScrubber, listPathPatterns, type ScrubPath } from '../errors/scrub/secret-path.ts';
import { listEnvironmentSecrets } from '../errors/scrub/secret-values.ts';
import { createScrubber, type Scrubber } from '../errors/scrub.ts';
import { InFlight } from '../front/access-log.ts';
import type { Visitors } from '../reports/visitors.ts';
import type { Environment } from '../settings.ts';
import type { Bootstrap } from './bootstrap.ts';

interface FailuresOptions extends Pick<FunnelOptions, 'splitBy' | 'keep' | 'onFailure'> {
  /** The routes, whose URLs can contain secrets. */
  readonly routes: readonly RouteLine[];
  readonly links: FailureLinks;
  /** Under `npm run dev`. By default, the table of the build is loaded. */
  readonly table?: LocationTable | undefined;
  /** Reporters that run after the destination. */
  readonly reporters?: readonly Reporter[];
}

export interface Failures {
  readonly funnel: Funnel;
  readonly scrubber: Scrubber;
  readonly scrubPath: ScrubPath;
  readonly table: () => LocationTable;
  readonly inFlight: InFlight;
  /** From here on, failures are stored. Failures during the start are only logged. */
  keepIn(destination: Kept): void;
}

interface Kept {
  readonly reporter: Reporter;
  readonly visitors: Visitors;
}

/** Opens the path from a thrown error to where failures go. */
export function openFailures(boot: Bootstrap, options: FailuresOptions): Failures {
  const { config, manifest, release, log, metrics, listed, dist } = boot;
  const { routes, links, reporters = [], splitBy, keep, onFailure } = options;
  const scrubber = createEnvironmentScrubber(process.env, config, routes).with(listed.tokens.map(({ token }) => token));
  const scrubPath = createPathScrubber(scrubber);
  const { table: ofSources } = options;
  const table = ofSources ? () => ofSources : createTableLoader(dist, log);
  let kept: Kept | undefined;
  const funnel = createFunnel({
    log,
    count: metrics.count,
    links,
    // The destination is first, so that a failure is stored before its address is shown.
    reporters: [{ report: (failure, error) => kept?.reporter.report(failure, error) ?? false }, ...reporters],
    namespace: config.digestNamespace,
    build: manifest.buildId,
    release,
    paths: { dist },
    table,
    scrubber,
    splitBy,
    keep,
    toVisitor: (address, id) => kept?.visitors.toVisitor(address, id),
    onFailure,
  });
  reportTo(funnel);
  return {
    funnel,
    scrubber,
    scrubPath,
    table,
    inFlight: new InFlight(scrubPath),
    keepIn(destination) {
      kept = destination;
    },
  };
}

/**
 * Creates a scrubber that knows the secrets in settings and in URL patterns, because an error's message can contain
 * one.
 */
function createEnvironmentScrubber(env: Environment, config: Config, routes: readonly RouteLine[]): Scrubber {
  const { scrubKeys: keys, scrubPatterns } = config;
  const named = createScrubber({ keys });
  const patterns = [...scrubPatterns, ...listPathPatterns(listPatterns(routes), named)];
  const scrubber = createScrubber({ keys, patterns });
  return scrubber.with([...listEnvironmentSecrets(env, scrubber), ...listDestinationSecrets(config)]);
}
