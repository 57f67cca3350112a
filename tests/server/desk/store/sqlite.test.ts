import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { QueryFailedError, StoreAwayError } from '../../../../src/server/desk/store/sql.ts';
import { openSqlite } from '../../../../src/server/desk/store/sqlite.ts';
import { openStore } from '../../../../src/server/desk/store/store.ts';
import { createFailure } from '../../../support/desk.ts';
import { createFolder } from '../../../support/folder.ts';
import { retain } from '../../../support/stores.ts';
import { createTestLog } from '../../../support/test-log.ts';

const open = async (path: string, log = createTestLog().log) => {
  const store = await openStore(openSqlite(path, { log }), { environment: 'production' });
  onTestFinished(() => store.close());
  return store;
};

describe('the database file', () => {
  const broken: Record<string, (path: string) => void> = {
    'is not a database': (path) => writeFileSync(path, 'A'.repeat(8192)),
    'was partly overwritten': (path) => {
      const bytes = readFileSync(path);
      bytes.fill(0xff, 4096, 8192);
      writeFileSync(path, bytes);
    },
    'was truncated': (path) => writeFileSync(path, readFileSync(path).subarray(0, 5000)),
  };

  it.each(Object.entries(broken))('is set aside and replaced if it %s', async (_name, spoil) => {
    const path = join(createFolder(onTestFinished), 'desk.sqlite');
    const first = await openStore(openSqlite(path, createTestLog()), { environment: 'production' });
    await first.ingest({ entries: Array.from({ length: 50 }, () => ({ entry: 'full', failure: createFailure() })) });
    await first.close();
    spoil(path);

    const { log, lines } = createTestLog();
    const store = await open(path, log);
    await store.ingest({ entries: [{ entry: 'full', failure: createFailure() }] });
    expect((await store.find({ digest: '7K3QM2XA' }))?.incident.counts.server).toBe(1);
    expect(readdirSync(join(path, '..')).some((name) => name.startsWith('desk.sqlite.corrupt-'))).toBe(true);
    expect(lines).toMatchObject([{ level: 'error', message: expect.stringContaining('was corrupt') }]);
  });

  it('can be read only by its owner, together with the files next to it', async () => {
    const folder = createFolder(onTestFinished);
    const store = await open(join(folder, 'desk.sqlite'));
    await store.check();
    const modes = readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777);
    expect(modes).toEqual([0o600, 0o600, 0o600]);
  });

  it('is treated as new if it is empty', async () => {
    const path = join(createFolder(onTestFinished), 'desk.sqlite');
    writeFileSync(path, '');
    const { log, lines } = createTestLog();
    await open(path, log);
    expect(lines).toEqual([]);
  });

  it('shrinks after deletions', async () => {
    const path = join(createFolder(onTestFinished), 'desk.sqlite');
    const store = await open(path);
    const noise = () => Array.from({ length: 400 }, () => Math.random().toString(36)).join('');
    for (let batch = 0; batch < 5; batch += 1) {
      await store.ingest({
        entries: Array.from({ length: 200 }, (_, index) => ({
          entry: 'full',
          failure: createFailure({ digest: `${batch}000${String(index).padStart(4, '0')}`, extra: { noise: noise() } }),
        })),
      });
    }
    const checkpoint = () => {
      const database = new DatabaseSync(path);
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      database.close();
      return statSync(path).size;
    };
    const before = checkpoint();
    await retain(store, { maxBytes: before / 4 });
    expect(checkpoint()).toBeLessThan(before / 2);
  });

  it('fails the check if it is deleted', async () => {
    const path = join(createFolder(onTestFinished), 'desk.sqlite');
    const store = await open(path);
    await store.check();
    rmSync(path);
    await expect(store.check()).rejects.toThrow(StoreAwayError);
  });

  it('makes the store unavailable if its folder cannot be created', async () => {
    const folder = createFolder(onTestFinished);
    writeFileSync(join(folder, 'file'), '');
    await expect((async () => open(join(folder, 'file', 'desk.sqlite')))()).rejects.toThrow(StoreAwayError);
  });

  it('fails only writes while another program writes', async () => {
    const path = join(createFolder(onTestFinished), 'desk.sqlite');
    const driver = openSqlite(path, createTestLog());
    onTestFinished(() => driver.close());
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    const slow = driver.transaction((sql) => sql.run('CREATE TABLE one (a)'));
    await expect(slow).rejects.toMatchObject({ name: 'QueryFailedError', reason: 'busy' });
    expect(await driver.all('SELECT 1 AS one')).toEqual([{ one: 1 }]); // reads do not wait
    other.exec('COMMIT');
    other.close();
    await openStore(driver, { environment: 'production' });
  });

  it.each([
    ['a value of an unsupported type', 'INSERT INTO desk_meta (name, value) VALUES (?, ?)', [{}, 'x'], 'value'],
    ['a constraint', "INSERT INTO desk_meta (name, value) VALUES ('x', NULL)", [], 'value'],
    ['a missing table', 'SELECT * FROM desk_none', [], 'refused'],
  ])('fails only the query that is about %s', async (_what, statement, values, reason) => {
    const driver = openSqlite(':memory:', createTestLog());
    const store = await openStore(driver, { environment: 'production' });
    onTestFinished(() => store.close());
    const failed = await driver.run(statement, values as never).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(QueryFailedError);
    expect(failed).toMatchObject({ reason });
    await store.check();
  });
});
