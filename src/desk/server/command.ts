import { join } from 'node:path';
import { runTerminal } from './terminal/run-terminal.ts';

// `npm run desk`, or `node dist/desk.mjs` without npm. Loads neither React, Express nor the product.

endWithReader();
process.exitCode = await runTerminal({
  args: process.argv.slice(2),
  env: process.env,
  out: process.stdout,
  err: process.stderr,
  root: join(import.meta.dirname, '../..'),
});

/** Ends the command when its output is no longer read (`| head`). */
function endWithReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(0);
      throw error;
    });
  }
}
