import { createServer } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import buildOnce from '../../support/build-once.ts';
import { createFolder } from '../../support/folder.ts';
import { listenInTest } from '../../support/listen.ts';
import { startServerProcess } from '../../support/server-process.ts';

const MAIN = fileURLToPath(new URL('../../../dist/server/main.js', import.meta.url));

beforeAll(() => buildOnce());

/** How the processes of a desk ended. */
function listEnds(dataDir: string): unknown[] {
  const store = new DatabaseSync(join(dataDir, 'desk.sqlite'), { readOnly: true });
  const rows = store.prepare('SELECT ended FROM desk_processes ORDER BY started_at').all();
  store.close();
  return rows.map(({ ended }) => ended);
}

it.each(['PORT', 'DESK_PORT'])('a start whose %s is in use is not recorded as a crash', async (name) => {
  const DATA_DIR = createFolder(onTestFinished);
  const port = await listenInTest(createServer());
  const started = startServerProcess([MAIN], { DATA_DIR, [name]: String(port) });
  await expect(started).rejects.toThrow(`or set ${name} to another one.`);
  expect(listEnds(DATA_DIR).filter((end) => end !== 'clean')).toEqual([]);
});

it('a stop by a second signal says why, and is not recorded as a crash', async () => {
  const DATA_DIR = createFolder(onTestFinished);
  const first = await startServerProcess([MAIN], { DATA_DIR, DRAIN_LAG: '20' });
  await expect.poll(() => listEnds(DATA_DIR)).toEqual([null]);
  void first.stop();
  await expect.poll(first.log).toContain('"signal":"SIGTERM"');
  await sleep(600); // A signal that repeats sooner is the same one.
  expect(await first.stop()).toBe(1);
  expect(first.log()).toContain('"signal":"SIGTERM","msg":"A second signal came, so the process exits now.');

  const second = await startServerProcess([MAIN], { DATA_DIR });
  await expect.poll(() => listEnds(DATA_DIR)).toEqual(['clean', null]);
  expect(second.log()).not.toContain('ended unexpectedly');
  await second.stop();
}, 60_000);
