import { expect, it } from 'vitest';
import { openDatabase } from '#product-server/database/open-database.ts';
import { createQueue } from '#product-server/jobs/queue.ts';
import { createEmptyDatabase, useDatabase } from '../../../support/product/test-database.ts';

const database = useDatabase();

function createTestQueue(say: (text: string, id: string) => Promise<void>) {
  const reported: unknown[] = [];
  const report = (error: unknown) => `address-${reported.push(error)}`;
  return { reported, queue: createQueue({ db: database.db, handlers: { say }, report }) };
}

const makeDue = () => database.db.updateTable('jobs').set({ runAt: '2020-01-01T00:00:00.000Z' }).execute();
const listJobs = () => database.db.selectFrom('jobs').selectAll().execute();

it('runs each job once, and deletes it', async () => {
  const said: string[] = [];
  const { queue } = createTestQueue(async (text) => void said.push(text));
  await queue.add('say', 'one');
  await queue.add('say', 'two');
  await queue.runDue();
  await queue.runDue();
  expect(said.sort()).toEqual(['one', 'two']);
  expect(await listJobs()).toEqual([]);
});

it('reports a failure, and tries again later with the same id', async () => {
  const ids: string[] = [];
  const broken = new Error('The line is dead.');
  const { queue, reported } = createTestQueue(async (_text, id) => {
    if (ids.push(id) === 1) throw broken;
  });
  await queue.add('say', 'one');
  await queue.runDue();
  expect(reported).toEqual([broken]);
  expect(await listJobs()).toMatchObject([{ attempts: 1, failure: 'address-1' }]);
  await queue.runDue();
  expect(ids).toHaveLength(1);
  await makeDue();
  await queue.runDue();
  expect(ids).toEqual([ids[0], ids[0]]);
  expect(await listJobs()).toEqual([]);
});

it('keeps a job that always fails, with the address of its failure', async () => {
  const { queue, reported } = createTestQueue(async () => {
    throw new Error('The line is dead.');
  });
  await queue.add('say', 'one');
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    await queue.runDue();
    if (attempt < 5) await makeDue();
  }
  expect(reported).toHaveLength(5);
  expect(await listJobs()).toMatchObject([{ attempts: 5, failure: 'address-5', runAt: null }]);
});

it('runs a job again whose process has died, and reports a job without a handler', async () => {
  const said: string[] = [];
  const { queue, reported } = createTestQueue(async (text) => void said.push(text));
  await queue.add('say', 'one');
  await database.db.updateTable('jobs').set({ attempts: 1 }).execute();
  await queue.runDue();
  expect(said).toEqual(['one']);
  await queue.add('say', 'two');
  await database.db.updateTable('jobs').set({ name: 'sing' }).execute();
  await queue.runDue();
  expect(reported).toMatchObject([{ message: expect.stringContaining('no handler for the job "sing"') }]);
});

it('stops at once while it waits, and then leaves the database alone', async () => {
  const db = await openDatabase(await createEmptyDatabase());
  const reported: unknown[] = [];
  const queue = createQueue({ db, handlers: {}, report: (error) => `address-${reported.push(error)}` });
  queue.start();
  await queue.stop();
  await db.destroy();
  await new Promise((resolve) => setImmediate(resolve));
  expect(reported).toEqual([]);
});
