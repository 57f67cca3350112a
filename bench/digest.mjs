// Measures the cost of a digest: `npm run build && node --expose-gc bench/digest.mjs`.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createDigest } from '../src/server/engine/errors/digest/create-digest.ts';
import { parseLocationTable } from '../src/server/engine/errors/digest/location-table.ts';
import { readErrors } from '../src/server/engine/errors/digest/read-error.ts';

const dist = fileURLToPath(new URL('../dist', import.meta.url));
const runs = 20_000;

const json = readFileSync(`${dist}/sites.json`, 'utf8');
globalThis.gc?.();
const before = process.memoryUsage().heapUsed;
const started = performance.now();
const table = parseLocationTable(json);
const parsed = performance.now();
table.find({ file: 'server/main.js', line: 1, column: 1, function: '' });
const decoded = performance.now();
globalThis.gc?.();
const kept = process.memoryUsage().heapUsed - before;
console.log(
  `table: ${json.length} bytes, read in ${(parsed - started).toFixed(2)} ms, the server's bundle decoded in ${(decoded - parsed).toFixed(2)} ms, ${Math.round(kept / 1024)} kB kept`,
);

const script = readFileSync(`${dist}/server/main.js`, 'utf8').split('\n');
const line = script.findLastIndex((text) => text.includes('throw new '));
const frame = (name, at) => `    at ${name} (file://${dist}/server/main.js:${at + 1}:9)`;

/** Creates an error with a cause, with as many frames as V8 records. */
function createFailure(number) {
  const cause = new TypeError(`No order ${number} for "someone"`);
  cause.stack = [`TypeError: ${cause.message}`, ...Array.from({ length: 10 }, (_, at) => frame('f', line + at))].join(
    '\n',
  );
  return new Error('The order could not be shown', { cause });
}

const times = [];
for (let run = 0; run < runs; run += 1) {
  const error = createFailure(run);
  const from = performance.now();
  createDigest(
    { side: 'server', errors: readErrors(error, { dist }), route: '/orders/:id' },
    { namespace: 'n', table },
  );
  times.push(performance.now() - from);
}
const [first] = times;
times.sort((a, b) => a - b);
const at = (share) => times[Math.floor(runs * share)].toFixed(3);
console.log(`digest, ms: the first ${first.toFixed(1)}, median ${at(0.5)}, p99 ${at(0.99)}`);
