import { join } from 'node:path';
import { endWithReader } from './boot/end-with-reader.ts';
import { runTerminal } from './desk/terminal/run-terminal.ts';

// `npm run desk`, and `node dist/desk.mjs` where there is no npm: neither React, Express nor the product is loaded.

endWithReader();
process.exitCode = await runTerminal({
  args: process.argv.slice(2),
  env: process.env,
  out: process.stdout,
  err: process.stderr,
  dist: join(import.meta.dirname, '..'),
});
