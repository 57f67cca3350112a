import { listPatterns, type RouteLine } from '../../shared/engine/routing/routes.ts';
import type { Config } from '../config.ts';
import { listDestinationSecrets } from '../destination-settings.ts';
import { listPathPatterns } from '../engine/errors/scrub/secret-path.ts';
import { listEnvironmentSecrets } from '../engine/errors/scrub/secret-values.ts';
import { createScrubber, type Scrubber } from '../engine/errors/scrub.ts';
import type { Environment } from '../engine/settings.ts';

/**
 * Creates a scrubber that knows the secrets in settings and in URL patterns, because an error's message can contain
 * one.
 */
export function createEnvironmentScrubber(env: Environment, config: Config, routes: readonly RouteLine[]): Scrubber {
  const { scrubKeys: keys, scrubPatterns } = config;
  const named = createScrubber({ keys });
  const patterns = [...scrubPatterns, ...listPathPatterns(listPatterns(routes), named)];
  const scrubber = createScrubber({ keys, patterns });
  return scrubber.with([...listEnvironmentSecrets(env, scrubber), ...listDestinationSecrets(config)]);
}
