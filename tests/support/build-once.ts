import { fileURLToPath } from 'node:url';
import { hasCurrentBuild } from '../../build/stamp.mjs';
import { build, stopBuilder } from '../../build.mjs';

/** Builds the server before the first test if anything has changed since the last build. */
export default async function buildOnce(): Promise<void> {
  if (hasCurrentBuild(fileURLToPath(new URL('../..', import.meta.url)))) return;
  await build();
  await stopBuilder();
}
