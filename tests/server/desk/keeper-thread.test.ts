import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createSignals } from '../../../src/server/desk/keeper/signals.ts';
import { createKeeperThread } from '../../../src/server/desk/keeper-thread.ts';
import { StoreAwayError } from '../../../src/server/desk/store/sql.ts';
import { createFolder, createTestLog, TEST_RETENTION } from '../../support/desk.ts';

/** Breaks when it is asked to find, and answers anything else. */
const script = `
import { parentPort } from 'node:worker_threads';
parentPort.on('message', ({ id, name }) => {
  if (name === 'find') throw new Error('broken');
  if (id) parentPort.postMessage({ say: 'answer', id, value: true });
});
`;

it('starts a thread that broke anew, and refuses what it was asked meanwhile', async () => {
  const folder = createFolder(onTestFinished);
  const file = join(folder, 'keeper.mjs');
  writeFileSync(file, script);
  const { log, lines } = createTestLog();
  const keeper = createKeeperThread({
    file,
    start: {
      signals: createSignals().buffer,
      run: 'run',
      startedAt: 0,
      dataDir: folder,
      databaseUrl: undefined,
      build: '',
      release: '',
      environment: 'test',
      namespace: '',
      retention: TEST_RETENTION,
      dist: folder,
    },
    log,
    onBlocked: () => undefined,
    onRetained: () => undefined,
  });
  onTestFinished(() => keeper.end());
  expect(await keeper.ask('readChanges')).toBe(true);
  await expect(keeper.ask('find', '7K3QM2XA')).rejects.toThrow(StoreAwayError);
  await expect.poll(() => keeper.ask('readChanges').catch(() => undefined), { timeout: 10_000 }).toBe(true);
  expect(lines.map(({ level }) => level)).toEqual(['error']);
});
