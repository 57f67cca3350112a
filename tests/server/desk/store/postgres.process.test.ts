import { randomBytes } from 'node:crypto';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { openPostgres } from '../../../../src/server/desk/store/postgres.ts';
import { StoreAwayError } from '../../../../src/server/desk/store/sql.ts';
import { openStore } from '../../../../src/server/desk/store/store.ts';
import { Day } from '../../../../src/shared/units.ts';
import { createFailure } from '../../../support/desk.ts';
import { createTestLog } from '../../../support/test-log.ts';
import { usePostgres } from '../../../support/use-postgres.ts';

const postgres = usePostgres();

const open = async (url: string) => {
  const store = await openStore(openPostgres(url), { environment: 'production' });
  onTestFinished(() => store.close());
  return store;
};

it('migrates once, and has one salt per day, even if many replicas start simultaneously', async () => {
  const url = await postgres.createDatabase();
  const stores = await Promise.all(Array.from({ length: 5 }, () => open(url)));
  const today = Math.floor(Date.now() / Day);
  const salts = await Promise.all(
    stores.map((store) =>
      store.readSalts([0, today, today + 1].map((day) => ({ day, salt: randomBytes(8).toString('hex') }))),
    ),
  );
  expect(new Set(salts.map((read) => JSON.stringify(read))).size).toBe(1);
  expect(salts[0]?.map(({ day }) => day).sort()).toEqual([0, today, today + 1]);
});

it('loses no count if several replicas ingest simultaneously', async () => {
  const url = await postgres.createDatabase();
  const stores = await Promise.all(Array.from({ length: 3 }, () => open(url)));
  const toEntry = (index: number) => ({
    entry: 'full' as const,
    failure: createFailure({ digest: `0000000${index % 7}` }),
  });
  await Promise.all(
    stores.flatMap((store) =>
      Array.from({ length: 10 }, () => store.ingest({ entries: Array.from({ length: 70 }, (_, at) => toEntry(at)) })),
    ),
  );
  const page = await stores[0]?.listIncidents({ limit: 10 });
  expect(page?.incidents.map(({ counts }) => counts.server)).toEqual(Array.from({ length: 7 }, () => 300));
  const hours = (await stores[1]?.listHours('00000000@production')) ?? [];
  expect(hours.reduce((sum, { server }) => sum + server, 0)).toBe(300);
});

it('becomes unavailable while it is stopped, says so without the password, and reconnects', async () => {
  const url = await postgres.createDatabase();
  const store = await open(url);
  await postgres.stop();
  const away = store.listProcesses(1);
  await expect(away).rejects.toThrow(StoreAwayError);
  await expect(away).rejects.not.toThrow(/spillway:spillway/);
  await postgres.start();
  expect(await store.listProcesses(1)).toEqual([]);
}, 30_000);

it('reports an invalid URL without the password', async () => {
  await expect(open('postgres://desk:secret@127.0.0.1:notaport/x')).rejects.toThrow(StoreAwayError);
  await expect(open('postgres://desk:secret@127.0.0.1:notaport/x')).rejects.not.toThrow(/secret/);
});

/** Starts a proxy between the desk and PostgreSQL. */
async function startBetween(url: string) {
  const { port } = new URL(url);
  const state = { isDeaf: false, refused: 0, refuses: undefined as string | undefined };
  const server = createServer((socket) => {
    const upstream = connect(Number(port), '127.0.0.1');
    let isFirst = true;
    socket.on('data', (data) => {
      const isStartup = isFirst;
      isFirst = false;
      if (isStartup && state.refuses !== undefined && data.includes(state.refuses)) {
        state.refused += 1;
        socket.end(toErrorResponse('08P01', `unsupported startup parameter: ${state.refuses}`));
      } else if (!state.isDeaf) upstream.write(data);
    });
    upstream.on('data', (data) => socket.write(data));
    for (const end of [socket, upstream]) {
      end.on('error', () => undefined);
      end.on('close', () => [socket, upstream].map((other) => other.destroy()));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const own = (server.address() as AddressInfo).port;
  return { state, url: url.replace(`:${port}/`, `:${own}/`) };
}

/** Creates an ErrorResponse like those that PostgreSQL and poolers send before they close a connection. */
function toErrorResponse(code: string, message: string): Buffer {
  const body = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`);
  const head = Buffer.from('E....');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

it('becomes unavailable if the database hangs, and works again when it answers', async () => {
  const between = await startBetween(await postgres.createDatabase());
  const store = await openStore(openPostgres(between.url, { queryTimeout: 300 }), {
    environment: 'production',
  });
  onTestFinished(() => store.close());
  await store.listProcesses(1); // opens the connection
  between.state.isDeaf = true;
  await expect(store.listProcesses(1)).rejects.toThrow(StoreAwayError);
  between.state.isDeaf = false;
  expect(await store.listProcesses(1)).toEqual([]);
});

it('fails a query that waits for a lock, and keeps its connection', async () => {
  const url = await postgres.createDatabase();
  const driver = openPostgres(url, { queryTimeout: 1000 });
  const store = await openStore(driver, { environment: 'production' });
  onTestFinished(() => store.close());
  const readPid = async () => (await driver.reader.all<{ pid: number }>('SELECT pg_backend_pid() AS pid'))[0]?.pid;
  const pid = await readPid();
  const other = openPostgres(url);
  onTestFinished(() => other.close());
  await other.transaction(async (sql) => {
    await sql.run('LOCK TABLE desk_processes IN ACCESS EXCLUSIVE MODE');
    await expect(store.listProcesses(1)).rejects.toMatchObject({ name: 'QueryFailedError', reason: 'slow' });
  });
  expect(await readPid()).toBe(pid);
  expect(await store.listProcesses(1)).toEqual([]);
});

it('does not let slow reads delay writes and sign-in, and limits the wait of other reads', async () => {
  const driver = openPostgres(await postgres.createDatabase(), { queryTimeout: 2000 });
  const store = await openStore(driver, { environment: 'production' });
  onTestFinished(() => store.close());
  const ended: string[] = [];
  const note = (work: Promise<unknown>, what: string) =>
    work.then(
      () => void ended.push(`${what} done`),
      (error: { reason?: string }) => void ended.push(`${what} ${error.reason}`),
    );
  await Promise.all([
    ...[1, 2].map(() => note(driver.reader.all('SELECT pg_sleep(30)'), 'read')),
    note(store.listBuilds(), 'another read'),
    note(store.ingest({ entries: [{ entry: 'full', failure: createFailure() }] }), 'write'),
    note(store.readSession('unknown'), 'sign-in'),
  ]);
  expect(ended.slice(0, 2).sort()).toEqual(['sign-in done', 'write done']);
  expect(ended.slice(2)).toEqual(['another read busy', 'read slow', 'read slow']);
});

it('waits for a migration, however long it takes', async () => {
  const url = await postgres.createDatabase();
  const other = openPostgres(url);
  onTestFinished(() => other.close());
  const opened = await other.transaction(async (sql) => {
    await sql.all('SELECT pg_advisory_xact_lock(1684370283)');
    const opening = openStore(openPostgres(url, { queryTimeout: 100 }), { environment: 'production' });
    await sql.all('SELECT pg_sleep(1)');
    return { opening };
  });
  const store = await opened.opening;
  await store.close();
});

it('works with a pooler that rejects the timeouts, and logs that once', async () => {
  const between = await startBetween(await postgres.createDatabase());
  between.state.refuses = 'statement_timeout';
  const { log, lines } = createTestLog();
  const store = await openStore(openPostgres(between.url, { log }), { environment: 'production' });
  onTestFinished(() => store.close());
  await store.ingest({ entries: [{ entry: 'full', failure: createFailure() }] });
  expect((await store.listIncidents({ limit: 5 })).incidents).toHaveLength(1);
  expect(between.state.refused).toBe(1);
  expect(lines).toMatchObject([{ level: 'warn', message: expect.stringContaining('ignore_startup_parameters') }]);
});

const table = 'desk_problems (word TEXT NOT NULL)';
it.each([
  ['a value', "INSERT INTO desk_problems VALUES (CAST('x' AS INT))", 'value'],
  ['a constraint', 'INSERT INTO desk_problems VALUES (NULL)', 'value'],
  ['a missing table', 'SELECT * FROM desk_none', 'refused'],
  ['a missing privilege', 'SELECT * FROM pg_authid', 'refused'],
  ['a read-only transaction', 'SET TRANSACTION READ ONLY; INSERT INTO desk_problems VALUES (1)', 'refused'],
  ['a canceled statement', 'SELECT pg_cancel_backend(pg_backend_pid())', 'slow'],
])('fails only the query that is about %s', async (_what, statement, reason) => {
  const url = await postgres.createDatabase();
  const admin = openPostgres(url);
  onTestFinished(() => admin.close());
  const name = `plain${new URL(url).pathname.slice(1)}`;
  await admin.run(`CREATE ROLE ${name} LOGIN PASSWORD 'plain'`);
  await admin.run(`CREATE TABLE ${table}`);
  await admin.run(`GRANT ALL ON desk_problems TO ${name}`);
  const driver = openPostgres(url.replace('spillway:spillway@', `${name}:plain@`));
  onTestFinished(() => driver.close());
  await expect(driver.run(statement)).rejects.toMatchObject({ name: 'QueryFailedError', reason });
  await driver.check();
});
