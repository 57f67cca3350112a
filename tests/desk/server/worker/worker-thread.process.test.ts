import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createSignals } from '../../../../src/desk/server/ingest/signals.ts';
import { StoreAwayError } from '../../../../src/desk/server/store/sql.ts';
import { createWorkerThread, type WorkerThreadLimits } from '../../../../src/desk/server/worker/worker-thread.ts';
import { createFolder } from '../../../support/folder.ts';
import { createTestLog } from '../../../support/test-log.ts';
import { until } from '../../../support/until.ts';
import { TEST_RETENTION } from '../../support/desk.ts';

/** Crashes on `find`, never answers about sessions, and answers everything else. */
const script = `
import { parentPort } from 'node:worker_threads';
parentPort.postMessage({ say: 'alive' });
parentPort.on('message', ({ say, id, name }) => {
  if (name === 'find') throw new Error('broken');
  if (id && name !== 'hasSession') parentPort.postMessage({ say: 'answer', id, value: true });
});
`;

function start(limits: Partial<WorkerThreadLimits> = {}) {
  const folder = createFolder(onTestFinished);
  const file = join(folder, 'worker.mjs');
  writeFileSync(file, script);
  const { log, lines } = createTestLog();
  const counts: string[] = [];
  const workerStart = {
    signals: createSignals().buffer,
    inFlight: new SharedArrayBuffer(0),
    ...{ process: 'process', startedAt: 0, heapLimit: 0 },
    running: { build: '', release: '', environment: 'test', namespace: '', dist: folder },
    storing: { dataDir: folder, retention: TEST_RETENTION },
  };
  const worker = createWorkerThread(
    { file, start: workerStart, limits: { restartFirst: 10, restartLongest: 10_000, ...limits } },
    {
      log,
      count: (name, labels) => counts.push([name, ...Object.values(labels)].join(' ')),
      onBlocked: () => undefined,
    },
  );
  onTestFinished(() => worker.end());
  return { worker, lines, counts };
}

it('a crashed desk worker is restarted, rejects questions until then, and reports its state', async () => {
  const { worker, lines } = start({ restartFirst: 300 });
  expect(await worker.calls.readChanges()).not.toBe('');
  expect(worker.state).toBe('running');
  const asked = [worker.calls.find('7K3QM2XA'), worker.calls.hasSession('x')];
  for (const question of asked) await expect(question).rejects.toThrow(StoreAwayError);
  await until(() => worker.state === 'restarting', 'the crash');
  expect(worker.pending).toBe(0);
  await expect(worker.calls.readChanges()).rejects.toThrow(StoreAwayError);
  await expect.poll(() => worker.calls.readChanges().catch(() => '')).not.toBe('');
  expect(worker.state).toBe('running');
  expect(lines.map(({ level }) => level)).toEqual(['error']);
});

it('a question is rejected after a timeout, but counts as pending until it is answered', async () => {
  const { worker, counts } = start({ answerWithin: 50, maxQuestions: 3 });
  await until(() => worker.state === 'running', 'its start');
  const late = [1, 2, 3].map(() => worker.calls.hasSession('x'));
  await expect(worker.calls.readChanges()).rejects.toThrow(StoreAwayError);
  for (const question of late) await expect(question).rejects.toThrow(StoreAwayError);
  expect(worker.pending).toBe(3);
  await expect(worker.calls.readChanges()).rejects.toThrow(StoreAwayError);
  const refused = counts.map((name) => name.split(' ')[1]).sort();
  expect(refused).toEqual(['full', 'full', 'late', 'late', 'late']);
});
