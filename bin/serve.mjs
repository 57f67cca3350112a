import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { hasCurrentBuild } from '../build/stamp.mjs';
import { useEnvFile } from './env-file.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Builds where something changed, then serves from this process: its id and its signals stay. */
export async function serve() {
  useEnvFile();
  // An image carries `dist` and no sources; there is nothing to build from, and nothing to compare.
  if (existsSync(`${root}/src`) && !hasCurrentBuild(root, { dev: false })) {
    const { build, stopBuilder } = await import('../build.mjs');
    try {
      // Not on standard output: the first line there says that the server listens.
      await build({ log: console.error });
    } catch (error) {
      console.error(error.message);
      process.exit(1);
    }
    await stopBuilder();
  }
  await import('../dist/server/main.js');
}
