import './required-node.mjs';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openDesk } from '../src/server/desk/desk.ts';
import { createFailure, TEST_RETENTION } from '../tests/support/desk.ts';

/**
 * Measures how fast the desk answers while many failures wait in the journal: `node bench/backlog.mjs`.
 *
 * Options: FAILURES in the journal, number of DIGESTS, DESK_DATABASE_URL for PostgreSQL.
 */
const failures = Number(process.env.FAILURES ?? 30_000);
const digests = Number(process.env.DIGESTS ?? 100);
const dataDir = mkdtempSync(join(tmpdir(), 'spillway-backlog-'));
process.on('exit', () => rmSync(dataDir, { recursive: true, force: true }));

const desk = await openDesk({
  dataDir,
  databaseUrl: process.env.DESK_DATABASE_URL || undefined,
  environment: 'production',
  retention: TEST_RETENTION,
  build: 'backlog',
  release: 'backlog',
  namespace: 'backlog',
  dist: join(dataDir, 'dist'),
  inFlight: () => [],
  onBlockedLoop: (report) => console.error('blocked', report.ms),
  log: { info() {}, warn: (fields, message) => console.error(message, fields), error: console.error },
  workerFile: fileURLToPath(new URL('../src/server/desk/worker/main.ts', import.meta.url)),
});
await desk.ask('readChanges');
await sleep(1000); // other work at the start

const began = performance.now();
let last;
for (let index = 0; index < failures; index += 1) {
  last = createFailure({ digest: String(index % digests).padStart(8, '0') });
  desk.journal(last);
}
const journaled = performance.now();
const ages = [];
const lookAt = async () => {
  const asked = performance.now();
  const page = await Promise.all([
    desk.ask('readSession', ''),
    desk.ask('listIncidents', { limit: 50 }),
    desk.ask('countStates', {}),
    desk.ask('listBuilds'),
    desk.ask('listEnvironments'),
  ]);
  const stored = page[1].incidents.reduce((sum, { counts }) => sum + counts.server, 0);
  ages.push({ ms: Math.round(performance.now() - asked), stored, arriving: desk.arriving });
};
const found = (async () => {
  const asked = performance.now();
  const found = await desk.ask('find', `${last.digest}-${last.occurrence}`).catch((error) => ({ state: error.name }));
  return { ms: Math.round(performance.now() - asked), state: found?.state };
})();
const drained = desk.flush().then(() => Math.round(performance.now() - journaled));
while (performance.now() - journaled < 20_000) {
  await lookAt();
  if ((await Promise.race([drained, sleep(250)])) !== undefined) break;
}
console.log(
  JSON.stringify(
    {
      failures,
      journalMs: Math.round(journaled - began),
      drainedMs: await drained,
      lists: ages.length,
      firstListMs: ages[0].ms,
      slowestListMs: Math.max(...ages.map(({ ms }) => ms)),
      first: ages[0],
      findOfTheLast: await found,
    },
    null,
    2,
  ),
);
await desk.close();
