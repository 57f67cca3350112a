import { listPatterns, type RouteLine } from '../../shared/engine/routing/routes.ts';
import type { Config } from '../config.ts';
import { listPathPatterns } from '../engine/errors/scrub/secret-path.ts';
import { listEnvironmentSecrets } from '../engine/errors/scrub/secret-values.ts';
import { createScrubber, type Scrubber } from '../engine/errors/scrub.ts';
import type { Environment } from '../engine/settings.ts';

/** Knows the secrets among the settings and in the addresses of pages too: an error's message may hold one. */
export function createEnvironmentScrubber(
  env: Environment,
  { scrubKeys: keys, scrubPatterns, webhookUrls, heartbeatUrl }: Config,
  routes: readonly RouteLine[],
): Scrubber {
  const named = createScrubber({ keys });
  const patterns = [...scrubPatterns, ...listPathPatterns(listPatterns(routes), named)];
  const scrubber = createScrubber({ keys, patterns });
  // Whoever knows such an address can post to it.
  const addresses = [...webhookUrls, ...(heartbeatUrl === undefined ? [] : [heartbeatUrl])];
  return scrubber.with([...listEnvironmentSecrets(env, scrubber), ...addresses]);
}
