import { expect, it } from 'vitest';
import { type BackupLine, readBackupLine, writeBackupLine } from '../../../../src/server/desk/store/backup-lines.ts';
import { BACKUP_TABLES, NOT_BACKED_UP } from '../../../../src/server/desk/store/backup-tables.ts';
import { applyMigrations, SCHEMA_VERSION } from '../../../../src/server/desk/store/migrations.ts';
import {
  BackupError,
  checkBackup,
  readTakenOver,
  restoreBackup,
} from '../../../../src/server/desk/store/restore-backup.ts';
import { createSecret, NO_DAY } from '../../../../src/server/desk/store/secret-table.ts';
import type { SqlDriver } from '../../../../src/server/desk/store/sql.ts';
import { openSqlite } from '../../../../src/server/desk/store/sqlite.ts';
import { openStore, type Store } from '../../../../src/server/desk/store/store.ts';
import { writeBackup } from '../../../../src/server/desk/store/write-backup.ts';
import { Day } from '../../../../src/shared/units.ts';
import { createTestLog } from '../../../support/desk.ts';
import { describeStores, retain, takeIn, thinOf, wholeOf } from '../../../support/stores.ts';

const NOTHING = { takenOver: { marks: [], secrets: [] } };
const digest = '00000001';
const offers = () => [NO_DAY, Math.floor(Date.now() / Day)].map((day) => ({ day, salt: createSecret() }));

async function write(driver: SqlDriver): Promise<string[]> {
  const lines: string[] = [];
  await writeBackup(driver, async (line) => void lines.push(writeBackupLine(line)));
  return lines;
}

async function* read(lines: readonly string[]): AsyncGenerator<BackupLine | undefined> {
  for (const line of lines) yield readBackupLine(line);
}

async function fill(store: Store): Promise<void> {
  await store.useBuild({ id: 'build-1', release: 'v1' });
  await store.storeBuildFile('build-1', { path: 'maps/server/main.js.map', read: () => Buffer.from([0, 1, 255, 10]) });
  for (let index = 0; index < 12; index += 1) {
    await takeIn(store, wholeOf({ digest, visitor: `visitor ${index}` }), thinOf({ digest: '00000002' }));
  }
  const feedback = {
    id: 'a'.repeat(32),
    address: digest,
    text: 'Ça va\u2028pas ☹\n“so”',
    at: Date.now(),
    email: 'ada@example.com',
  };
  await takeIn(store, { entry: 'feedback', feedback });
  await store.changeIncident(digest, { to: { state: 'resolved', in: 'now' } }, { author: 'ada' });
  await store.addNote(digest, 'Note', 'ada');
  await store.storeBeat({ id: 'run-1', build: 'build-1', release: 'v1' }, { startedAt: 1, memory: 2, inFlight: [] });
}

/** All that is told of both. */
async function tell(store: Store) {
  return {
    list: await store.listIncidents({ limit: 9, now: 0 }),
    found: await Promise.all([digest, '00000002'].map((one) => store.find({ digest: one }))),
    occurrences: await store.listOccurrences(digest, { limit: 99, withWholes: true }),
    feedback: await store.listFeedback(digest, 9),
    notes: await store.listNotes(digest, 9),
    changes: await store.listChanges(digest, 9),
    releases: await store.listReleases(digest),
    hours: await store.listHours(digest),
    map: await store.readBuildFile('build-1', 'maps/server/main.js.map').then((bytes) => [...(bytes ?? [])]),
    searched: (await store.listIncidents({ limit: 9, search: 'boom', now: 0 })).incidents.length,
  };
}

describeStores('a backup', (open) => {
  it('holds every table, or says that it does not', async () => {
    const { driver } = await open();
    const rows = await driver.all<{ name: string }>(
      driver.dialect.name === 'sqlite'
        ? "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'desk%' AND name NOT LIKE 'desk_search_index%'"
        : "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
    );
    // A new table belongs into one of both lists in backup-tables.ts.
    expect([...BACKUP_TABLES.map(({ name }) => name), ...NOT_BACKED_UP].sort()).toEqual(
      rows.map(({ name }) => name).sort(),
    );
  });

  it('of this database is restored in both', async () => {
    const { store, driver } = await open();
    await fill(store);
    await store.createSession('hash', { name: 'ada', role: 'operator', fingerprint: 'f' }, 60_000);
    const before = await tell(store);
    const lines = await write(driver);
    expect(await checkBackup(read(lines))).toMatchObject({ schema: SCHEMA_VERSION });
    const fresh = openSqlite(':memory:', { log: createTestLog().log });
    for (const target of [fresh, driver]) {
      await restoreBackup(target, () => read(lines), NOTHING);
      const restored = await openStore(target, { rule: 2, environment: 'production' });
      expect(await tell(restored)).toEqual(before);
      expect(await restored.readSession('hash')).toBeUndefined();
      expect(await restored.listRuns(9)).toMatchObject([{ id: 'run-1', ended: 'clean' }]);
      // Ids go on behind those that were restored, and the search with what comes.
      expect(await restored.addNote(digest, 'Another', 'ada')).toMatchObject({ text: 'Another' });
      await takeIn(restored, wholeOf({ digest: '00000003', title: 'Later' }));
      expect((await restored.listIncidents({ limit: 9, search: 'later' })).incidents).toHaveLength(1);
      expect(await restored.readChanges()).toBeGreaterThan(Date.now() - 60_000);
    }
    await fresh.close();
  });

  it('goes from SQLite into this one', async () => {
    const sqlite = openSqlite(':memory:', { log: createTestLog().log });
    const other = await openStore(sqlite, { rule: 2, environment: 'production' });
    await fill(other);
    const before = await tell(other);
    const lines = await write(sqlite);
    await other.close();
    const { store, driver } = await open();
    await takeIn(store, wholeOf({ digest: '0000000X' }));
    await restoreBackup(driver, () => read(lines), NOTHING);
    expect(await tell(await openStore(driver, { rule: 2, environment: 'production' }))).toEqual(before);
    expect(await store.find({ digest: '0000000X' })).toBeUndefined();
  });

  it('is of one moment, whatever comes while it is made', async () => {
    const { store, driver } = await open();
    await fill(store);
    const lines: BackupLine[] = [];
    let isChanged = false;
    await writeBackup(driver, async (line) => {
      lines.push(line);
      if (isChanged || driver.dialect.name === 'sqlite') return; // SQLite in memory has one connection
      isChanged = true;
      await store.deleteIncident(digest, { author: 'ada' });
    });
    await expect(checkBackup(read(lines.map(writeBackupLine)))).resolves.toBeDefined();
    expect(lines.some((line) => line.is === 'row' && line.row[0] === digest)).toBe(true);
  });

  it('of an older schema becomes the present one', async () => {
    const { driver } = await open();
    const old = openSqlite(':memory:', { log: createTestLog().log });
    await old.transaction((sql) => applyMigrations(sql, old.dialect, 2).then(() => undefined));
    const incident = [
      '00000007',
      1,
      'exception',
      'TypeError: boom',
      'TypeError',
      'boom',
      0,
      'open',
      'server',
      1,
      2,
      'v1',
      'b',
      'v1',
      'b',
      3,
      4,
    ];
    const columns =
      'digest,rule,kind,title,class,message,weak,state,first_side,first_at,last_at,first_release,first_build,last_release,last_build,server_count,browser_count'.split(
        ',',
      );
    await old.close();
    const lines = [
      writeBackupLine({ is: 'header', header: { format: 'spillway desk backup', version: 1, schema: 2, at: 1 } }),
      writeBackupLine({ is: 'table', table: 'desk_meta', columns: ['name', 'value'] }),
      writeBackupLine({ is: 'row', row: ['schema', '2'] }),
      writeBackupLine({ is: 'row', row: ['salt', 'pepper'] }),
      writeBackupLine({ is: 'table', table: 'desk_incidents', columns }),
      writeBackupLine({ is: 'row', row: incident }),
      writeBackupLine({ is: 'end', counts: { desk_meta: 2, desk_incidents: 1 } }),
    ];
    await checkBackup(read(lines));
    await restoreBackup(driver, () => read(lines), NOTHING);
    const store = await openStore(driver, { rule: 2, environment: 'production' });
    expect((await store.find({ digest: '00000007' }))?.incident).toMatchObject({ counts: { server: 3, browser: 4 } });
    expect((await store.listIncidents({ limit: 9, search: 'boom' })).incidents).toHaveLength(1);
    expect(await store.readMeta()).toMatchObject({ schema: String(SCHEMA_VERSION), salt: 'pepper' });
  });

  it('holds nothing that visitors are hashed with', async () => {
    const { store, driver } = await open();
    await fill(store);
    await driver.run("INSERT INTO desk_meta (name, value) VALUES ('salt', 'a salt of an earlier release')");
    await retain(store);
    await store.readSalts(offers());
    await store.forgetVisitor({ visitors: ['visitor 3'] });
    const secrets = await store.listSecrets();
    expect(secrets.map(({ name }) => name)).toEqual(['mark', 'old', 'visitor', 'visitor']);
    const bytes = (await write(driver)).join('\n');
    expect(secrets.filter(({ secret }) => bytes.includes(secret))).toEqual([]);
  });

  it('leaves a store what it hashes with, and a new one makes its own', async () => {
    const { store, driver } = await open();
    await fill(store);
    await driver.run("INSERT INTO desk_meta (name, value) VALUES ('salt', 'pepper')");
    await retain(store);
    const salts = await store.readSalts(offers());
    await store.forgetVisitor({ visitors: ['visitor 3'] });
    const secrets = await store.listSecrets();
    const lines = await write(driver);
    await restoreBackup(driver, () => read(lines), { takenOver: await readTakenOver(driver) });
    const restored = await openStore(driver, { rule: 2, environment: 'production' });
    expect(await restored.listSecrets()).toEqual(secrets);
    expect(await restored.readMeta()).toMatchObject({ salt: 'pepper' });

    const fresh = openSqlite(':memory:', { log: createTestLog().log });
    await restoreBackup(fresh, () => read(lines), NOTHING);
    const other = await openStore(fresh, { rule: 2, environment: 'production' });
    const made = (await other.readSalts(offers())).map(({ salt }) => salt);
    expect(made).toHaveLength(2);
    expect(made.filter((salt) => salts.some((known) => known.salt === salt))).toEqual([]);
    expect(await other.readMeta()).not.toHaveProperty('salt');
    await other.close();
  });

  it('brings nobody back whom the desk was told to forget since', async () => {
    const { store, driver } = await open();
    await fill(store);
    const lines = await write(driver);
    await store.forgetVisitor({ visitors: ['visitor 3'], email: 'ada@example.com' });
    const after = await tell(store);
    await restoreBackup(driver, () => read(lines), { takenOver: await readTakenOver(driver) });
    const restored = await openStore(driver, { rule: 2, environment: 'production' });
    expect(await tell(restored)).toEqual(after);
    await takeIn(restored, wholeOf({ digest, visitor: 'visitor 3' }));
    expect((await restored.listOccurrences(digest, { limit: 99 })).occurrences).toHaveLength(11);
  });

  it('leaves all as it was where it cannot be restored', async () => {
    const { store, driver } = await open();
    await fill(store);
    const before = await tell(store);
    const lines = await write(driver);
    const wrong = lines.map((line) => line.replace('"assignee"', '"no_such_column"'));
    await expect(restoreBackup(driver, () => read(wrong), NOTHING)).rejects.toThrow();
    expect(await tell(store)).toEqual(before);
  });

  it.each<[string, (lines: string[]) => string[], string]>([
    ['ends early', (lines) => lines.slice(0, -1), 'not whole'],
    ['lacks a row', (lines) => lines.filter((_line, index) => index !== 4), 'not whole'],
    ['has a row twice', (lines) => [...lines.slice(0, 4), ...lines.slice(3)], 'not whole'],
    ['has a line that is none', (lines) => lines.with(5, '["half'), 'not whole'],
    ['has something behind its end', (lines) => [...lines, '["a"]'], 'not whole'],
    [
      'names a table that is none of the desk',
      (lines) => lines.with(1, '{"table":"users","columns":["a","b"]}'),
      'not whole',
    ],
    [
      'names a column that is none',
      (lines) => lines.with(1, '{"table":"desk_meta","columns":["name","v) --"]}'),
      'not whole',
    ],
    ['is something else', () => ['{"name":"spillway"}'], 'no backup of a desk'],
    ['is empty', () => [], 'no backup of a desk'],
    [
      'is of a newer release',
      (lines) => lines.with(0, lines[0]?.replace(/"schema":\d+/, '"schema":999') ?? ''),
      'made by a newer release (schema 999',
    ],
  ])('is refused where it %s', async (_name, change, words) => {
    const { store, driver } = await open();
    await fill(store);
    const lines = change(await write(driver));
    await expect(checkBackup(read(lines))).rejects.toThrow(BackupError);
    await expect(checkBackup(read(lines))).rejects.toThrow(words);
  });
});
