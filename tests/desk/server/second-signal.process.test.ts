import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import buildOnce from '../../support/build-once.ts';
import { createFolder } from '../../support/folder.ts';

const MAIN = fileURLToPath(new URL('../../../dist/server/main.js', import.meta.url));

beforeAll(() => buildOnce());

function start(more: Readonly<Record<string, string>>) {
  const env = { PATH: process.env.PATH, HOST: '127.0.0.1', PORT: '0', ...more };
  const child = spawn(process.execPath, [MAIN], { env });
  onTestFinished(() => void child.kill('SIGKILL'));
  let log = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (log += chunk.toString()));
  return { child, log: () => log, ended: once(child, 'close') };
}

/** How the processes of a desk ended. */
function listEnds(dataDir: string): unknown[] {
  const store = new DatabaseSync(join(dataDir, 'desk.sqlite'), { readOnly: true });
  const rows = store.prepare('SELECT ended FROM desk_processes ORDER BY started_at').all();
  store.close();
  return rows.map(({ ended }) => ended);
}

it('a stop by a second signal says why, and is not recorded as a crash', async () => {
  const DATA_DIR = createFolder(onTestFinished);
  const first = start({ DATA_DIR, DRAIN_LAG: '20' });
  await expect.poll(first.log).toContain('Listening on');
  await expect.poll(() => listEnds(DATA_DIR)).toEqual([null]);
  first.child.kill('SIGTERM');
  await expect.poll(first.log).toContain('"signal":"SIGTERM"');
  await new Promise((resolve) => setTimeout(resolve, 600)); // A signal that repeats sooner is the same one.
  first.child.kill('SIGTERM');
  expect(await first.ended).toEqual([1, null]);
  expect(first.log()).toContain('"signal":"SIGTERM","msg":"A second signal came, so the process exits now.');

  const second = start({ DATA_DIR });
  await expect.poll(() => listEnds(DATA_DIR)).toEqual(['clean', null]);
  expect(second.log()).not.toContain('ended unexpectedly');
}, 60_000);
