import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { terminalFiles } from '../build/stamp.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Runs the desk's command as it was built. It is built where it is not there; an older one is as good:
 * a build would exchange the files below a server that runs.
 */
export async function runDesk() {
  if (!terminalFiles.every((path) => existsSync(`${root}/${path}`))) {
    const { buildTerminal } = await import('../build/terminal.mjs');
    try {
      await buildTerminal(root);
    } catch (error) {
      console.error(error.message);
      process.exit(1);
    }
  }
  await import('../dist/server/desk.js');
}
