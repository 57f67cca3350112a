import { DatabaseSync } from 'node:sqlite';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createFolder } from '../../support/folder.ts';
import { openTestDesk } from '../support/desk.ts';

it('refuses SQLite on a file system without locks, and does not blame another server', async () => {
  const { exec } = DatabaseSync.prototype;
  vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (this: DatabaseSync, sql) {
    // SQLite reports ENOLCK as it reports a lock of another process.
    if (sql === 'BEGIN EXCLUSIVE') throw Object.assign(new Error('database is locked'), { errcode: 5 });
    exec.call(this, sql);
  });
  onTestFinished(() => void vi.restoreAllMocks());
  const opened = openTestDesk({ dataDir: createFolder(onTestFinished) });
  await expect(opened).rejects.toThrow(/file system without file locks \(ENOLCK\).* local disk/);
});
