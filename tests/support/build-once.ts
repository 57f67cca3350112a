import { fileURLToPath } from 'node:url';
import { hasCurrentBuild } from '../../build/stamp.mjs';
import { build, stopBuilder } from '../../build.mjs';

/** Builds before the first test where something changed, so that tests can start the built server. */
export default async function buildOnce(): Promise<void> {
  if (hasCurrentBuild(fileURLToPath(new URL('../..', import.meta.url)), { dev: false })) return;
  await build();
  await stopBuilder();
}
