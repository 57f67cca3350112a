import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { hasCurrentBuild, toCommandFiles } from '../build/stamp.mjs';
import { useEnvFile } from './env-file.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Runs a command as it was built. It is built where it is not there; an older one is as good: a build
 * would exchange the files below a server that runs.
 *
 * @param {'desk' | 'doctor'} command
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
  // What only the sources tell.
  if (command === 'doctor') process.env.SPILLWAY_SOURCES = hasCurrentBuild(root, { dev: false }) ? 'built' : 'changed';
  await import(`../dist/server/${command}.js`);
}
