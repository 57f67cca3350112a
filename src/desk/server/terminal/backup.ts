import { closeSync, existsSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Second } from '../../../shared/units.ts';
import { SQLITE_FILE } from '../data-files.ts';
import { TerminalError } from './terminal-error.ts';

/**
 * What a backup leaves out: the keys that visitors are hashed with, what signs operators in, messages that would be sent
 * twice, and processes that would count as dead.
 */
export const LEFT_OUT = [
  'desk_salts',
  'desk_local_salts',
  'desk_sessions',
  'desk_notifications',
  'desk_processes',
  'desk_revalidations',
];

/** How long SQLite waits for a lock of the server (ms). */
const LOCK_WAIT = 10 * Second;

/**
 * Copies the SQLite store as of one moment, while a server can be using it. Only the file's owner can read the copy. It
 * has another name until it is complete.
 *
 * @throws TerminalError if the file exists or cannot be written
 */
export function writeBackup(dataDir: string, file: string): void {
  if (existsSync(file)) throw new TerminalError(`${file} exists already. Choose another name.`);
  if (!existsSync(dirname(file)))
    throw new TerminalError(`The folder ${dirname(file)} does not exist. Create it first.`);
  const part = `${file}.part`;
  try {
    rmSync(part, { force: true });
    closeSync(openSync(part, 'wx', 0o600)); // SQLite would make it readable for everyone
    use(new DatabaseSync(join(dataDir, SQLITE_FILE), { readOnly: true, timeout: LOCK_WAIT }), (store) =>
      store.prepare('VACUUM INTO ?').run(part),
    );
    use(new DatabaseSync(part), (copy) => {
      // A journal would leave the deleted keys on disk.
      copy.exec('PRAGMA journal_mode = OFF; PRAGMA secure_delete = ON');
      for (const table of LEFT_OUT) copy.exec(`DELETE FROM ${table}`);
      if (copy.prepare('PRAGMA quick_check(1)').get()?.quick_check !== 'ok') {
        throw new TerminalError(
          "The backup failed SQLite's integrity check, so it was discarded. Run the command again.",
        );
      }
    });
    renameSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    throw error instanceof TerminalError
      ? error
      : new TerminalError(`${file} cannot be written: ${(error as Error).message}.`);
  }
}

function use(database: DatabaseSync, work: (database: DatabaseSync) => void): void {
  try {
    work(database);
  } finally {
    database.close();
  }
}
