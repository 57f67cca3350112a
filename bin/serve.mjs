import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { hasCurrentBuild } from '../build/stamp.mjs';
import { useEnvFile } from './env-file.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Builds if something changed, then runs the server in this process, which keeps its id and its signals. */
export async function serve() {
  useEnvFile();
  enableCompileCache(`${root}/node_modules/.cache/spillway/compiled`);
  // An image contains `dist` but no sources, so there is nothing to build or compare.
  if (existsSync(`${root}/src`) && !hasCurrentBuild(root, { dev: false })) {
    const { build, stopBuilder } = await import('../build.mjs');
    try {
      // Logs to standard error: the first line of standard output must say that the server listens.
      await build({ log: console.error });
    } catch (error) {
      console.error(error.message);
      process.exit(1);
    }
    await stopBuilder();
  }
  await import('../dist/server/main.js');
}
