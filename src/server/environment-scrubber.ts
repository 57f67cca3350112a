import type { Config, Environment } from './config.ts';
import { listEnvironmentSecrets } from './engine/errors/scrub/secret-values.ts';
import { createScrubber, type Scrubber } from './engine/errors/scrub.ts';

/** Knows the secrets among the settings too: an error's message may hold one. */
export function createEnvironmentScrubber(
  env: Environment,
  { scrubKeys: keys, scrubPatterns: patterns }: Config,
): Scrubber {
  const scrubber = createScrubber({ keys, patterns });
  return scrubber.with(listEnvironmentSecrets(env, scrubber));
}
