import { randomBytes } from 'node:crypto';
import { connect, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { openPostgres } from '../../../../src/desk/server/store/postgres.ts';
import { StoreAwayError } from '../../../../src/desk/server/store/sql.ts';
import { openStore } from '../../../../src/desk/server/store/store.ts';
import { Day } from '../../../../src/shared/units.ts';
import { listen } from '../../../support/listen.ts';
import { createPostgresDatabase } from '../../../support/postgres.ts';
import { fullOf } from '../../support/stores.ts';

const HOOK = { id: 'hook', name: 'Webhook' };

async function open(url: string, queryTimeout?: number) {
  const driver = openPostgres(url, queryTimeout === undefined ? {} : { queryTimeout });
  const store = await openStore(driver, { environment: 'production', rules: { after: 1, targets: [HOOK] } });
  onTestFinished(() => store.close());
  return { store, driver };
}

it('migrates once, and has one salt per day, even if many replicas start simultaneously', async () => {
  const url = await createPostgresDatabase();
  const stores = await Promise.all(Array.from({ length: 5 }, () => open(url)));
  const today = Math.floor(Date.now() / Day);
  const salts = await Promise.all(
    stores.map(({ store }) =>
      store.visitors.readSalts([0, today, today + 1].map((day) => ({ day, salt: randomBytes(8).toString('hex') }))),
    ),
  );
  expect(new Set(salts.map((read) => JSON.stringify(read))).size).toBe(1);
  expect(salts[0]?.map(({ day }) => day).sort()).toEqual([0, today, today + 1]);
});

it('loses no count, and notifies of each incident once, if several replicas ingest simultaneously', async () => {
  const url = await createPostgresDatabase();
  const stores = await Promise.all(Array.from({ length: 3 }, () => open(url)));
  const entries = Array.from({ length: 70 }, (_, index) => fullOf({ digest: `0000000${index % 7}` }));
  await Promise.all(
    stores.map(async ({ store }) => {
      for (let batch = 0; batch < 10; batch += 1) await store.journals.ingest({ occurrences: entries });
    }),
  );
  const { store } = await open(url);
  const { incidents } = await store.list.listIncidents({ limit: 10 });
  expect(incidents.map(({ counts }) => counts.server)).toEqual(Array(7).fill(300));
  const keys = (await store.notifications.listNotifications(100)).map(({ key }) => key);
  expect(keys.sort()).toEqual(incidents.map(({ key }) => key).sort());
});

/** Starts a proxy between the desk and PostgreSQL. */
async function startBetween(url: string) {
  const { port } = new URL(url);
  /** Which data is lost, and whether the database misses that the desk closes a connection. */
  const state: { swallows?: string; staysOpen?: boolean } = {};
  const server = createServer((socket) => {
    const upstream = connect(Number(port), '127.0.0.1');
    socket.on(
      'data',
      (data) => (state.swallows !== undefined && data.includes(state.swallows)) || upstream.write(data),
    );
    upstream.on('data', (data) => socket.write(data));
    for (const end of [socket, upstream]) end.on('error', () => undefined);
    socket.on('close', () => state.staysOpen || upstream.destroy());
    upstream.on('close', () => socket.destroy());
    onTestFinished(() => void upstream.destroy());
  });
  const own = await listen(server);
  onTestFinished(() => void server.close());
  return { state, url: url.replace(`:${port}/`, `:${own}/`) };
}

it('becomes unavailable if the database hangs, and works again when it answers', async () => {
  const between = await startBetween(await createPostgresDatabase());
  const { store } = await open(between.url, 3000);
  await store.builds.listBuilds(); // opens the connection
  between.state.swallows = '';
  await expect(store.builds.listBuilds()).rejects.toThrow(StoreAwayError);
  between.state.swallows = undefined;
  expect(await store.builds.listBuilds()).toEqual([]);
});

it('frees what a lost connection has locked in the middle of a transaction', async () => {
  const url = await createPostgresDatabase();
  const between = await startBetween(url);
  const [lost, other] = [await open(between.url, 3000), await open(url)];
  Object.assign(between.state, { swallows: 'COMMIT', staysOpen: true });
  const batch = { occurrences: [fullOf()] };
  await expect(lost.store.journals.ingest(batch)).rejects.toThrow(StoreAwayError);
  await other.store.journals.ingest(batch);
  expect((await other.store.finder.find({ digest: '7K3QM2XA' }))?.incident.counts.server).toBe(1);
});

it('fails a query that waits for a lock, and keeps its connection', async () => {
  const url = await createPostgresDatabase();
  const { store, driver } = await open(url, 3000);
  const readPid = () => driver.reader.all('SELECT pg_backend_pid()');
  const pid = await readPid();
  const other = openPostgres(url);
  onTestFinished(() => other.close());
  await other.transaction(async (sql) => {
    await sql.run('LOCK TABLE desk_builds IN ACCESS EXCLUSIVE MODE');
    await expect(store.builds.listBuilds()).rejects.toMatchObject({ name: 'QueryFailedError', reason: 'slow' });
  });
  expect(await readPid()).toEqual(pid);
  expect(await store.builds.listBuilds()).toEqual([]);
});

it('does not let slow reads delay writes and sign-in, and limits the wait of other reads', async () => {
  const { store, driver } = await open(await createPostgresDatabase(), 5000);
  const ended: string[] = [];
  const note = (work: Promise<unknown>, what: string) =>
    work.then(
      () => void ended.push(`${what} done`),
      (error: { reason?: string }) => void ended.push(`${what} ${error.reason}`),
    );
  await Promise.all([
    ...[1, 2].map(() => note(driver.reader.all('SELECT pg_sleep(30)'), 'read')),
    note(
      expect(store.builds.listBuilds()).rejects.toThrow(/No connection was free for 4 s\. Each process needs 5/),
      'another read refused',
    ),
    note(store.journals.ingest({ occurrences: [fullOf()] }), 'write'),
    note(store.sessions.hasSession('unknown'), 'sign-in'),
  ]);
  expect(ended.slice(0, 2).sort()).toEqual(['sign-in done', 'write done']);
  expect(ended.slice(2)).toEqual(['another read refused done', 'read slow', 'read slow']);
});

it('waits for a migration, however long it takes', async () => {
  const url = await createPostgresDatabase();
  const other = openPostgres(url);
  onTestFinished(() => other.close());
  const opened = await other.transaction(async (sql) => {
    await sql.all('SELECT pg_advisory_xact_lock(1684370283)');
    const opening = open(url, 2000);
    await sql.all('SELECT pg_sleep(3)');
    return { opening };
  });
  await opened.opening;
});
