import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { hasCurrentBuild, toCommandFiles } from '../build/stamp.mjs';
import { useEnvFile } from './env-file.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Runs a built command, and builds it only if it is missing. It does not rebuild an outdated one, because a build would
 * replace the files of a running server.
 *
 * @param {string} command
 */
export async function runCommand(command) {
  useEnvFile({ silent: true });
  if (!toCommandFiles(command).every((path) => existsSync(`${root}/${path}`))) {
    const { buildCommand } = await import('../build/terminal.mjs');
    try {
      await buildCommand(root, command);
    } catch (error) {
      console.error(error.message);
      process.exit(1);
    }
  }
  // Only the sources show whether the build is current.
  if (command === 'doctor') {
    process.env.SPILLWAY_SOURCES = hasCurrentBuild(root, { dev: false }) ? 'built' : 'changed';
  }
  await import(`../dist/server/${command}.js`);
}
