import { expect, it, onTestFinished } from 'vitest';
import { openPostgres } from '../../../../src/server/desk/store/postgres.ts';
import { createSecret } from '../../../../src/server/desk/store/secret-table.ts';
import { StoreAwayError } from '../../../../src/server/desk/store/sql.ts';
import { openStore } from '../../../../src/server/desk/store/store.ts';
import { Day } from '../../../../src/shared/units.ts';
import { createFailure, createTestLog } from '../../../support/desk.ts';
import { usePostgres } from '../../../support/use-postgres.ts';

const postgres = usePostgres();

const open = async (url: string) => {
  const store = await openStore(openPostgres(url), { rule: 1, environment: 'production' });
  onTestFinished(() => store.close());
  return store;
};

it('is migrated once, and has one salt of a day, however many replicas start at once', async () => {
  const url = await postgres.createDatabase();
  const stores = await Promise.all(Array.from({ length: 5 }, () => open(url)));
  const today = Math.floor(Date.now() / Day);
  const salts = await Promise.all(
    stores.map((store) => store.readSalts([0, today, today + 1].map((day) => ({ day, salt: createSecret() })))),
  );
  expect(new Set(salts.map((read) => JSON.stringify(read))).size).toBe(1);
  expect(salts[0]?.map(({ day }) => day).sort()).toEqual([0, today, today + 1]);
});

it('counts what several replicas take in at once, without one lost', async () => {
  const url = await postgres.createDatabase();
  const stores = await Promise.all(Array.from({ length: 3 }, () => open(url)));
  const toEntry = (index: number) => ({
    entry: 'whole' as const,
    failure: createFailure({ digest: `0000000${index % 7}` }),
  });
  await Promise.all(
    stores.flatMap((store) =>
      Array.from({ length: 10 }, () => store.takeIn({ entries: Array.from({ length: 70 }, (_, at) => toEntry(at)) })),
    ),
  );
  const page = await stores[0]?.listIncidents({ limit: 10 });
  expect(page?.incidents.map(({ counts }) => counts.server)).toEqual(Array.from({ length: 7 }, () => 300));
  const hours = (await stores[1]?.listHours('00000000')) ?? [];
  expect(hours.reduce((sum, { server }) => sum + server, 0)).toBe(300);
});

it('is away while it is stopped, says so without the password, and comes back by itself', async () => {
  const url = await postgres.createDatabase();
  const store = await open(url);
  await postgres.stop();
  const away = store.listRuns(1);
  await expect(away).rejects.toThrow(StoreAwayError);
  await expect(away).rejects.not.toThrow(/desk:desk/);
  await postgres.start();
  expect(await store.listRuns(1)).toEqual([]);
}, 30_000);

it('says what is wrong with an address that is none', async () => {
  await expect(open('postgres://desk:secret@127.0.0.1:notaport/x')).rejects.toThrow(StoreAwayError);
  await expect(open('postgres://desk:secret@127.0.0.1:notaport/x')).rejects.not.toThrow(/secret/);
});

it('is away where a statement hangs, and is used again when it goes on', async () => {
  const url = await postgres.createDatabase();
  const store = await openStore(openPostgres(url, { queryTimeout: 300 }), { rule: 1, environment: 'production' });
  onTestFinished(() => store.close());
  // Somebody who holds a table is like a database that does not answer.
  const other = openPostgres(url);
  onTestFinished(() => other.close());
  const hanging = await other.transaction(async (sql) => {
    await sql.run('LOCK TABLE desk_runs IN ACCESS EXCLUSIVE MODE');
    return store.listRuns(1).then(
      () => undefined,
      (error: unknown) => error,
    );
  });
  expect(hanging).toBeInstanceOf(StoreAwayError);
  expect(await store.listRuns(1)).toEqual([]);
});

it('is searched without the extension for trigrams, and says how to allow it', async () => {
  const url = await postgres.createDatabase();
  const owner = openPostgres(url);
  onTestFinished(() => owner.close());
  const { username, pathname } = new URL(url);
  const name = `poor${pathname.slice(1)}`;
  await owner.run(`CREATE ROLE ${name} LOGIN PASSWORD 'poor'`);
  await owner.run(`CREATE SCHEMA ${name} AUTHORIZATION ${name}`);
  const { log, lines } = createTestLog();
  const store = await openStore(openPostgres(url.replace(`${username}:desk@`, `${name}:poor@`)), {
    rule: 1,
    environment: 'production',
    log,
  });
  onTestFinished(() => store.close());
  await store.takeIn({ entries: [{ entry: 'whole', failure: createFailure({ title: 'CartItem is gone' }) }] });
  const found = await store.listIncidents({ limit: 5, search: 'cartitem' });
  expect(found.incidents).toHaveLength(1);
  expect(lines).toMatchObject([{ level: 'warn', message: expect.stringContaining('GRANT CREATE ON DATABASE') }]);

  // Allowed later, it is used from the next start on.
  await owner.run(`GRANT CREATE ON DATABASE ${pathname.slice(1)} TO ${name}`);
  const again = await openStore(openPostgres(url.replace(`${username}:desk@`, `${name}:poor@`)), {
    rule: 1,
    environment: 'production',
    log,
  });
  onTestFinished(() => again.close());
  expect(lines).toHaveLength(1);
  expect(await owner.all("SELECT 1 FROM pg_indexes WHERE indexname = 'desk_search_trigrams'")).toHaveLength(1);
});
