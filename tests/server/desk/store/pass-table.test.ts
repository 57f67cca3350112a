import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Pass } from '../../../../src/server/desk/store/pass-table.ts';
import { openPostgres } from '../../../../src/server/desk/store/postgres.ts';
import type { SqlDriver } from '../../../../src/server/desk/store/sql.ts';
import { openSqlite } from '../../../../src/server/desk/store/sqlite.ts';
import { openStore, type Store } from '../../../../src/server/desk/store/store.ts';
import { createTestLog } from '../../../support/desk.ts';
import { startPostgres, type TestPostgres } from '../../../support/postgres.ts';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres(afterAll);
}, 60_000);

const drivers: Record<string, () => Promise<SqlDriver> | SqlDriver> = {
  SQLite: () => openSqlite(':memory:', { log: createTestLog().log }),
  PostgreSQL: async () => openPostgres(await postgres.createDatabase()),
};

const session: Pass = { kind: 'session', key: 'k1', name: 'ada', mark: 'm1', endsAt: 1000 };

describe.each(Object.entries(drivers))('passes in %s', (_name, openDriver) => {
  async function open(): Promise<Store> {
    const store = await openStore(await openDriver(), { rule: 1 });
    onTestFinished(() => store.close());
    return store;
  }

  it('are found until they end, by their kind and key', async () => {
    const store = await open();
    await store.storePass(session, 0);
    expect(await store.findPass('session', 'k1', 999)).toEqual(session);
    expect(await store.findPass('session', 'k1', 1000)).toBeUndefined();
    expect(await store.findPass('ticket', 'k1', 0)).toBeUndefined();
    expect(await store.findPass('session', 'k2', 0)).toBeUndefined();
  });

  it('are taken once, whoever comes at the same time', async () => {
    const store = await open();
    await store.storePass({ ...session, kind: 'ticket' }, 0);
    const taken = await Promise.all(Array.from({ length: 5 }, () => store.takePass('ticket', 'k1', 0)));
    expect(taken.filter((pass) => pass !== undefined)).toEqual([{ ...session, kind: 'ticket' }]);
    await store.storePass({ ...session, kind: 'ticket' }, 0);
    expect(await store.takePass('ticket', 'k1', 1000)).toBeUndefined();
  });

  it('that have ended go with the next that comes', async () => {
    const store = await open();
    await store.storePass(session, 0);
    await store.storePass({ ...session, key: 'k2', endsAt: 9000 }, 1000);
    expect(await store.findPass('session', 'k1', 0)).toBeUndefined();
    expect(await store.findPass('session', 'k2', 0)).toBeDefined();
  });

  it('count tries of a sender and of all, within a minute, and forgive one', async () => {
    const store = await open();
    expect(await store.countTry('a', 7)).toEqual({ own: 1, all: 1 });
    expect(await store.countTry('b', 7)).toEqual({ own: 1, all: 2 });
    await store.forgiveTry('a', 7);
    expect(await store.countTry('a', 7)).toEqual({ own: 1, all: 2 });
    expect(await store.countTry('a', 8)).toEqual({ own: 1, all: 1 });
  });

  it('count every one of many tries at once', async () => {
    const store = await open();
    const counts = await Promise.all(Array.from({ length: 20 }, () => store.countTry('a', 7)));
    expect(counts.map(({ own }) => own).sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
  });
});
