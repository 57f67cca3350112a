import { join } from 'node:path';
import { endWithReader } from './boot/end-with-reader.ts';
import { runDoctor } from './doctor/run-doctor.ts';

// `npm run doctor`, or `node dist/doctor.mjs` without npm. Of the product, only the settings are loaded.

endWithReader();
process.exitCode = await runDoctor({
  args: process.argv.slice(2),
  env: process.env,
  out: process.stdout,
  err: process.stderr,
  dist: join(import.meta.dirname, '..'),
  loadProductSettings: async () => (await import('./product/settings.ts')).settings,
});
