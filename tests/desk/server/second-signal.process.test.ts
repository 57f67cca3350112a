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

it('a stop by a second signal says why, and is not recorded as a crash', async () => {
  const DATA_DIR = createFolder(onTestFinished);
  const store = () => new DatabaseSync(join(DATA_DIR, 'desk.sqlite'), { readOnly: true });
  const start = () => {
    const env = { PATH: process.env.PATH, PORT: '0', DATA_DIR, DRAIN_LAG: '20' };
    const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'ignore'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    let log = '';
    child.stdout.on('data', (chunk: Buffer) => {
      log += chunk.toString();
    });
    return { child, log: () => log, ended: once(child, 'exit') };
  };
  const listEnds = () => store().prepare('SELECT ended FROM desk_processes ORDER BY started_at').all();

  const first = start();
  await expect.poll(first.log).toContain('Listening on');
  await expect.poll(listEnds).toEqual([{ ended: null }]);
  first.child.kill('SIGTERM');
  await new Promise((resolve) => setTimeout(resolve, 600));
  first.child.kill('SIGTERM');
  expect(await first.ended).toEqual([1, null]);
  expect(first.log()).toContain('"signal":"SIGTERM","msg":"A second signal came, so the process exits now.');

  const second = start();
  await expect.poll(listEnds).toEqual([{ ended: 'clean' }, { ended: null }]);
  expect(second.log()).not.toContain('ended unexpectedly');
}, 60_000);
