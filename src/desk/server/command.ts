import { join } from 'node:path';
import { endWithReader } from '#engine/tracker';
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
