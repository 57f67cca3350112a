import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { applyMigrations, SCHEMA_VERSION } from '../../../../src/server/desk/store/migrations.ts';
import { finishRestore, readTakenOver } from '../../../../src/server/desk/store/restore-backup.ts';
import type { SqlDriver } from '../../../../src/server/desk/store/sql.ts';
import { openSqlite } from '../../../../src/server/desk/store/sqlite.ts';
import { openStore, type Store } from '../../../../src/server/desk/store/store.ts';
import { LEFT_OUT, writeBackupFile } from '../../../../src/server/desk/terminal/backup-file.ts';
import { readTerminalSettings } from '../../../../src/server/desk/terminal/read-terminal-settings.ts';
import { restoreStore } from '../../../../src/server/desk/terminal/restore-store.ts';
import { createSecret, NO_DAY } from '../../../../src/server/reports/tunnel/visitors.ts';
import { Day } from '../../../../src/shared/units.ts';
import { createFolder } from '../../../support/folder.ts';
import { describeStores, ingest, retain, thinOf, wholeOf } from '../../../support/stores.ts';
import { createTestLog } from '../../../support/test-log.ts';

const { log } = createTestLog();
const digest = '00000001';
const offers = () => [NO_DAY, Math.floor(Date.now() / Day)].map((day) => ({ day, salt: createSecret() }));

interface OpenStore {
  readonly folder: string;
  readonly path: string;
  readonly driver: SqlDriver;
  readonly store: Store;
}

async function open(folder = createFolder(onTestFinished)): Promise<OpenStore> {
  const path = join(folder, 'desk.sqlite');
  const driver = openSqlite(path, { log });
  const store = await openStore(driver, { rule: 2, environment: 'production' });
  onTestFinished(() => store.close());
  return { folder, path, driver, store };
}

function restore(folder: string, file: string) {
  const settings = readTerminalSettings({ DATA_DIR: folder });
  return restoreStore({ file, settings, rule: 2, log });
}

async function fill(store: Store): Promise<void> {
  await store.useBuild({ id: 'build-1', release: 'v1' });
  await store.storeBuildFile('build-1', { path: 'maps/server/main.js.map', read: () => Buffer.from([0, 1, 255, 10]) });
  for (let index = 0; index < 12; index += 1) {
    await ingest(store, wholeOf({ digest, visitor: `visitor ${index}` }), thinOf({ digest: '00000002' }));
  }
  const feedback = {
    id: 'a'.repeat(32),
    address: digest,
    text: 'Ça va\n“so”',
    at: Date.now(),
    email: 'ada@example.com',
  };
  await ingest(store, { entry: 'feedback', feedback });
  await store.changeIncident(digest, { to: { state: 'resolved', in: 'now' } }, { author: 'ada' });
  await store.addNote(digest, 'Note', 'ada');
  await store.storeHeartbeat(
    { id: 'run-1', build: 'build-1', release: 'v1' },
    { startedAt: 1, memory: 2, inFlight: [] },
  );
}

/** Reads what the desk shows about both incidents. */
async function read(store: Store) {
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

describe('a backup of SQLite', () => {
  it('contains everything in the store, even while a server writes', async () => {
    const { store, path, folder } = await open();
    await fill(store);
    await store.createSession('hash', { name: 'ada', role: 'operator', fingerprint: 'f' }, 60_000);
    const before = await read(store);
    const file = join(folder, 'backup.sqlite');
    writeBackupFile(path, file, { force: false });
    await store.deleteIncident(digest, { author: 'ada' });

    const there = createFolder(onTestFinished);
    expect(await restore(there, file)).toEqual({ incidents: 2, at: expect.any(Number) });
    const { store: restored, driver } = await open(there);
    expect(await read(restored)).toEqual(before);
    expect(await restored.readSession('hash')).toBeUndefined();
    expect(await restored.listProcesses(9)).toMatchObject([{ id: 'run-1', ended: 'clean' }]);
    expect(await restored.readChanges()).toBeGreaterThan(Date.now() - 60_000);
    expect(await restored.readMeta()).not.toHaveProperty('backup_at');
    expect(await driver.all('PRAGMA auto_vacuum')).toEqual([{ auto_vacuum: 2 }]);
    // The next ids and the search continue after the restored rows.
    expect(await restored.addNote(digest, 'Another', 'ada')).toMatchObject({ text: 'Another' });
    await ingest(restored, wholeOf({ digest: '00000003', title: 'Later' }));
    expect((await restored.listIncidents({ limit: 9, search: 'later' })).incidents).toHaveLength(1);
  });

  it('contains nothing that identifies visitors or allows a sign-in', async () => {
    const { store, driver, path, folder } = await open();
    await fill(store);
    await driver.run("INSERT INTO desk_meta (name, value) VALUES ('salt', 'a salt of an earlier release')");
    await retain(store);
    await store.readSalts(offers());
    await store.forgetVisitor({ visitors: ['visitor 3'] });
    await store.createSession('hash-of-a-session', { name: 'ada', role: 'operator', fingerprint: 'f' }, 60_000);
    const secrets = await store.listSecrets();
    expect(secrets.map(({ name }) => name)).toEqual(['mark', 'old', 'visitor', 'visitor']);
    const file = join(folder, 'backup.sqlite');
    writeBackupFile(path, file, { force: false });
    const bytes = readFileSync(file);
    const found = [...secrets.map(({ secret }) => secret), 'a salt of an earlier release', 'hash-of-a-session'];
    expect(found.filter((secret) => bytes.includes(secret))).toEqual([]);
    const copy = new DatabaseSync(file, { readOnly: true });
    expect(LEFT_OUT.map((table) => copy.prepare(`SELECT COUNT(*) AS count FROM ${table}`).get()?.count)).toEqual(
      LEFT_OUT.map(() => 0),
    );
    copy.close();
    expect(readdirSync(folder).filter((name) => name.startsWith('backup'))).toEqual(['backup.sqlite']);
  });

  it('does not replace the keys of the store, and a new store creates keys', async () => {
    const { store, driver, path, folder } = await open();
    await fill(store);
    await driver.run("INSERT INTO desk_meta (name, value) VALUES ('salt', 'pepper')");
    await retain(store);
    const salts = await store.readSalts(offers());
    await store.forgetVisitor({ visitors: ['visitor 3'] });
    const secrets = await store.listSecrets();
    const file = join(folder, 'backup.sqlite');
    writeBackupFile(path, file, { force: false });
    await store.close();
    await restore(folder, file);
    const { store: restored } = await open(folder);
    expect(await restored.listSecrets()).toEqual(secrets);
    expect(await restored.readMeta()).toMatchObject({ salt: 'pepper' });

    const there = createFolder(onTestFinished);
    await restore(there, file);
    const { store: other } = await open(there);
    const created = (await other.readSalts(offers())).map(({ salt }) => salt);
    expect(created).toHaveLength(2);
    expect(created.filter((salt) => salts.some((known) => known.salt === salt))).toEqual([]);
    expect(await other.readMeta()).not.toHaveProperty('salt');
  });

  it('of an older schema is upgraded', async () => {
    const file = join(createFolder(onTestFinished), 'backup.sqlite');
    const old = openSqlite(file, { log });
    await old.transaction((sql) => applyMigrations(sql, 2).then(() => undefined));
    await old.run("INSERT INTO desk_meta (name, value) VALUES ('salt', 'pepper')");
    await old.run(
      `INSERT INTO desk_incidents (digest, rule, kind, title, class, message, weak, state, first_side, first_at, last_at,
        first_release, first_build, last_release, last_build, server_count, browser_count)
        VALUES ('00000007', 1, 'exception', 'TypeError: boom', 'TypeError', 'boom', 0, 'open', 'server', 1, 2,
        'v1', 'b', 'v1', 'b', 3, 4)`,
    );
    await old.close();
    const there = createFolder(onTestFinished);
    expect(await restore(there, file)).toEqual({ incidents: 1 });
    const { store } = await open(there);
    expect((await store.find({ digest: '00000007' }))?.incident).toMatchObject({ counts: { server: 3, browser: 4 } });
    expect((await store.listIncidents({ limit: 9, search: 'boom' })).incidents).toHaveLength(1);
    expect(await store.readMeta()).toMatchObject({ schema: String(SCHEMA_VERSION), salt: 'pepper' });
  });

  it.each<[string, (bytes: Buffer, path: string) => Buffer, RegExp]>([
    ['is only half a file', (bytes) => bytes.subarray(0, bytes.length / 2), /^The backup is not complete/],
    ['was changed', (bytes) => Buffer.from(bytes.fill(0x7f, 100, 8192)), /^The backup is not complete/],
    [
      'is a backup of 0.1.0',
      () => gzipSync('{"format":"spillway desk backup"}\n'),
      /^This is a backup of version 0.1.0/,
    ],
    ['is something else', () => Buffer.from('{"name":"spillway"}'), /^This file is not a backup/],
    ['is empty', () => Buffer.alloc(0), /^This file is not a backup/],
    [
      'is another database',
      (_bytes, path) => {
        const other = new DatabaseSync(path);
        other.exec('CREATE TABLE users (name TEXT)');
        other.close();
        return readFileSync(path);
      },
      /^This file is not a backup/,
    ],
    [
      'is from a newer release',
      (_bytes, path) => {
        const newer = new DatabaseSync(path);
        newer.exec("CREATE TABLE desk_meta (name TEXT, value TEXT); INSERT INTO desk_meta VALUES ('schema', '999')");
        newer.close();
        return readFileSync(path);
      },
      /^The backup was made by a newer version \(schema 999/,
    ],
  ])('is rejected if it %s, and the store does not change', async (_name, change, message) => {
    const { store, path, folder } = await open();
    await fill(store);
    const before = await read(store);
    const file = join(folder, 'backup.sqlite');
    writeBackupFile(path, file, { force: false });
    await store.close();
    writeFileSync(file, change(readFileSync(file), join(createFolder(onTestFinished), 'other.sqlite')));
    await expect(restore(folder, file)).rejects.toThrow(message);
    expect(readdirSync(folder).filter((name) => /restor/.test(name))).toEqual([]);
    expect(await read((await open(folder)).store)).toEqual(before);
  });

  it('does not overwrite a file unless forced', async () => {
    const { path, folder } = await open();
    const file = join(folder, 'backup.sqlite');
    writeBackupFile(path, file, { force: false });
    expect(() => writeBackupFile(path, file, { force: false })).toThrow('exists');
    expect(existsSync(file)).toBe(true);
    expect(() => writeBackupFile(path, join(folder, 'none/backup.sqlite'), { force: false })).toThrow('does not exist');
    writeBackupFile(path, file, { force: true });
  });
});

describeStores('a restored copy', (openTest) => {
  it('does not bring back a visitor who was deleted since', async () => {
    const { store, driver } = await openTest();
    await fill(store);
    const save = ['desk_occurrences', 'desk_wholes', 'desk_incidents', 'desk_feedback', 'desk_search', 'desk_visitors'];
    for (const table of save) await driver.run(`CREATE TABLE saved_${table} AS SELECT * FROM ${table}`);
    await store.forgetVisitor({ visitors: ['visitor 3'], email: 'ada@example.com' });
    const after = await read(store);
    for (const table of save) {
      await driver.run(`DELETE FROM ${table}`);
      await driver.run(`INSERT INTO ${table} SELECT * FROM saved_${table}`);
    }
    expect(await read(store)).not.toEqual(after);
    await finishRestore(driver, driver.dialect.name === 'sqlite' ? await readTakenOver(driver) : undefined);
    const restored = await openStore(driver, { rule: 2, environment: 'production' });
    expect(await read(restored)).toEqual(after);
    await ingest(restored, wholeOf({ digest, visitor: 'visitor 3' }));
    expect((await restored.listOccurrences(digest, { limit: 99 })).occurrences).toHaveLength(11);
  });
});
