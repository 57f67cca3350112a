import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { useEnvFile } from './env-file.mjs';

const root = join(import.meta.dirname, '..');

/**
 * Runs a built command, and builds only if it is missing. It does not rebuild an outdated one, because a build would
 * replace the files of a running server.
 *
 * @param {string} command
 */
export async function runCommand(command) {
  useEnvFile({ silent: true });
  const file = join(root, `dist/server/${command}.js`);
  if (!existsSync(file)) {
    const { build, stopBuilder } = await import('../build.mjs');
    await build({ log: console.error });
    await stopBuilder();
  }
  await import(pathToFileURL(file).href);
}
