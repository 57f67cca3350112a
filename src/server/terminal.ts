import { join } from 'node:path';
import { runTerminal } from './desk/terminal/run-terminal.ts';

// `npm run desk`, and `node dist/desk.mjs` where there is no npm: neither React, Express nor the product is loaded.

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // Whoever read it has enough: `| head`.
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
}

process.exitCode = await runTerminal({
  args: process.argv.slice(2),
  env: process.env,
  out: process.stdout,
  err: process.stderr,
  dist: join(import.meta.dirname, '..'),
});
