import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { createFolder } from '../../support/folder.ts';
import { createTestLog } from '../../support/test-log.ts';
import { openTestDesk } from '../support/desk.ts';

const NO_LOCKS = /file system without file locks \(ENOLCK\).* local disk/;

beforeEach(() => {
  const { exec } = DatabaseSync.prototype;
  vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (this: DatabaseSync, sql) {
    // SQLite reports ENOLCK as it reports a lock of another process.
    if (sql === 'BEGIN EXCLUSIVE') throw Object.assign(new Error('database is locked'), { errcode: 5 });
    exec.call(this, sql);
  });
});
afterEach(() => vi.restoreAllMocks());

it('refuses SQLite on a file system without locks, and does not blame another server', async () => {
  await expect(openTestDesk({ dataDir: createFolder(onTestFinished) })).rejects.toThrow(NO_LOCKS);
});

it('reports such a file system with PostgreSQL, which works', async () => {
  const { log, lines } = createTestLog();
  const databaseUrl = 'postgres://desk@127.0.0.1:9/desk';
  const desk = await openTestDesk({ dataDir: createFolder(onTestFinished), databaseUrl, log });
  await desk.close();
  expect(lines.map(({ message }) => message)).toContainEqual(expect.stringMatching(NO_LOCKS));
});
