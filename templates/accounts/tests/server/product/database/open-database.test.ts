import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { migrations } from '#product-server/database/migrations/index.ts';
import { openDatabase } from '#product-server/database/open-database.ts';
import { createEmptyDatabase } from '../../../support/product/test-database.ts';

const TABLE = 'CREATE TABLE ships (id text PRIMARY KEY, is_new boolean NOT NULL, built date NOT NULL);';

/** Returns a function that opens the same database again and again, each time with other migrations. */
async function createDatabase() {
  const folder = mkdtempSync(join(tmpdir(), 'app-database-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const options = await createEmptyDatabase(join(folder, 'app.sqlite'));
  return async (scripts: Record<string, string>) => {
    const db = await openDatabase(options, scripts);
    onTestFinished(() => db.destroy());
    return db;
  };
}

it('runs each migration once', async () => {
  const open = await createDatabase();
  await open({ first: TABLE });
  const db = await open({ first: TABLE, second: 'ALTER TABLE ships ADD COLUMN name text; DELETE FROM ships;' });
  const rows = await db.selectFrom('migrations').select('name').orderBy('name').execute();
  expect(rows).toEqual([{ name: 'first' }, { name: 'second' }]);
});

// SQLite waits for a lock without letting other code run, so its connections would have to be in several processes.
it.runIf(process.env.TEST_DATABASE === 'postgres')('waits for other processes that migrate', async () => {
  const open = await createDatabase();
  await Promise.all([open({ first: TABLE }), open({ first: TABLE }), open({ first: TABLE })]);
});

it('refuses a migration that was changed after it ran, and accepts other ends of lines', async () => {
  const open = await createDatabase();
  await open({ first: `${TABLE}\n` });
  await open({ first: `${TABLE}\r\n` });
  await expect(open({ first: `${TABLE} -- ` })).rejects.toThrow('The migration first.sql was changed after it ran');
});

it('waits for the SQL of a new migration', async () => {
  const open = await createDatabase();
  await open({ first: '-- Write SQL here.\n' });
  const db = await open({ first: `-- The ships.\n${TABLE}` });
  expect(await db.selectFrom('migrations').select('name').execute()).toEqual([{ name: 'first' }]);
});

it('keeps nothing if a migration fails', async () => {
  const open = await createDatabase();
  const broken = open({ first: TABLE, second: 'CREATE TABLE harbours (id text); SELECT * FROM nowhere;' });
  await expect(broken).rejects.toThrow('The migration second.sql failed, so no new migration was kept.');
  const db = await open({ first: TABLE });
  expect(await db.selectFrom('migrations').select('name').execute()).toEqual([{ name: 'first' }]);
});

it('accepts the migrations of a later version, so that you can go back', async () => {
  const open = await createDatabase();
  await open({ first: TABLE, second: 'CREATE TABLE harbours (id text);' });
  await expect(open({ first: TABLE })).resolves.toBeDefined();
});

it('reads booleans, dates and times as it wrote them', async () => {
  const open = await createDatabase();
  const db = (await open({ first: TABLE })).withTables<{ ships: { id: string; isNew: boolean; built: string } }>();
  const ship = { id: 'Ada', isNew: true, built: '2026-02-28' };
  expect(await db.insertInto('ships').values(ship).returningAll().executeTakeFirst()).toEqual(ship);
  expect(await db.selectFrom('ships').selectAll().where('isNew', '=', true).execute()).toEqual([ship]);
  expect(await db.selectFrom('ships').selectAll().where('isNew', '=', false).execute()).toEqual([]);
  const [{ appliedAt }] = (await db.selectFrom('migrations').select('appliedAt').execute()) as [{ appliedAt: string }];
  expect(new Date(appliedAt).toISOString()).toBe(appliedAt);
});

it('has a line in migrations/index.ts for each file', () => {
  const folder = new URL('../../../../src/server/product/database/migrations', import.meta.url);
  const files = readdirSync(folder).filter((name) => name.endsWith('.sql'));
  expect(Object.keys(migrations).map((name) => `${name}.sql`)).toEqual(files.sort());
});
