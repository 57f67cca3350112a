import './required-node.mjs';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { build, stopBuilder } from '../build.mjs';
import { openDesk } from '../src/server/desk/desk.ts';
import { TEST_RETENTION } from '../tests/support/desk.ts';

/**
 * Measures the cost of an error storm for the server process: `node bench/storm.mjs`. All failures must be counted.
 * Visitors notice the delay of the event loop and the cost of a call.
 *
 * Options: RATE failures per second, SECONDS, number of DIGESTS, DESK_DATABASE_URL for PostgreSQL.
 */
const rate = Number(process.env.RATE ?? 2000);
const seconds = Number(process.env.SECONDS ?? 6);
const digests = Number(process.env.DIGESTS ?? 1);
const dist = fileURLToPath(new URL('../dist', import.meta.url));
const dataDir = mkdtempSync(join(tmpdir(), 'spillway-storm-'));
process.on('exit', () => rmSync(dataDir, { recursive: true, force: true }));

await build({ log: console.error });
await stopBuilder();
const mebibytes = () => Math.round(process.memoryUsage.rss() / 1024 / 1024);
const before = { memory: mebibytes(), time: performance.now() };
const desk = await openDesk({
  dataDir,
  databaseUrl: process.env.DESK_DATABASE_URL || undefined,
  environment: 'storm',
  retention: TEST_RETENTION,
  build: 'storm',
  release: 'storm',
  namespace: 'storm',
  dist,
  inFlight: () => [],
  onBlockedLoop: (report) => console.error('blocked', report),
  log: { info() {}, warn: (fields, message) => console.error(message, fields), error: console.error },
});
const opened = performance.now() - before.time;
await desk.ask('readChanges');
const usable = performance.now() - before.time;
// The files of the build are published during this time.
await sleep(3000);

const idle = mebibytes();
const delay = monitorEventLoopDelay({ resolution: 1 });
const costs = [];
delay.enable();
const began = performance.now();
while (costs.length < rate * seconds) {
  const due = Math.min(rate * seconds, ((performance.now() - began) / 1000) * rate);
  while (costs.length < due) costs.push(timeOne(costs.length));
  await sleep(2);
}
const took = (performance.now() - began) / 1000;
delay.disable();
const flushBegan = performance.now();
const isFlushed = desk.flushSync(10_000);
const flush = performance.now() - flushBegan;
const { incidents } = await desk.ask('listIncidents', { limit: digests + 1 });
const counted = incidents.reduce((sum, { counts }) => sum + counts.server, 0);
costs.sort((left, right) => left - right);

console.log(
  JSON.stringify(
    {
      failures: costs.length,
      counted,
      aSecond: Math.round(costs.length / took),
      loopDelayMs: { median: toMs(delay.percentile(50)), p99: toMs(delay.percentile(99)), worst: toMs(delay.max) },
      journalMs: { median: round(at(0.5)), p99: round(at(0.99)) },
      flushSyncMs: isFlushed ? round(flush) : 'not in time',
      openDeskMs: round(opened),
      storeUsableMs: round(usable),
      memoryMiB: { before: before.memory, withDesk: idle, afterStorm: mebibytes() },
    },
    null,
    2,
  ),
);
await desk.close();

function timeOne(index) {
  const failure = createFailure(index);
  const began = performance.now();
  if (!desk.journal(failure)) throw new Error('The journal refused a failure.');
  return performance.now() - began;
}

/** Creates about 5 kB, like a page's failure. */
function createFailure(index) {
  const occurrence = String(index).padStart(8, '0');
  const frame = { file: 'server/main.js', line: 1000, column: 10, function: 'loadOrders' };
  const breadcrumb = { at: Date.now(), category: 'fetch', message: 'GET https://api.example/orders', level: 'info' };
  return {
    id: occurrence.padStart(32, '0'),
    digest: String(index % digests).padStart(8, '0'),
    occurrence,
    rule: 1,
    kind: 'exception',
    side: 'server',
    origin: 'loader',
    at: Date.now(),
    build: 'storm',
    release: 'storm',
    title: 'TypeError: Cannot read properties of undefined (reading total)',
    errors: [{ class: 'TypeError', message: 'boom', frames: Array.from({ length: 12 }, () => frame) }],
    route: '/orders/:id',
    requestId: occurrence,
    breadcrumbs: Array.from({ length: 40 }, () => breadcrumb),
  };
}

function at(share) {
  return costs[Math.floor(costs.length * share)];
}

function toMs(nanoseconds) {
  return round(nanoseconds / 1e6);
}

function round(value) {
  return Math.round(value * 1000) / 1000;
}
