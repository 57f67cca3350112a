import {
  closeSync,
  copyFileSync,
  createReadStream,
  existsSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pipeline } from 'node:stream/promises';
import { Second } from '../../../shared/units.ts';
import { TerminalError } from '../../terminal/terminal-error.ts';

/**
 * Tables that a backup leaves empty: the keys that visitors are hashed with, sessions, sign-in attempts, and
 * notifications (so that none is sent twice).
 */
export const LEFT_OUT: readonly string[] = [
  'desk_secrets',
  'desk_sessions',
  'desk_links',
  'desk_attempts',
  'desk_notices',
  'desk_targets',
];

/** How long SQLite waits for a lock of the server (ms). */
const PATIENCE = 10 * Second;

/**
 * Writes a backup of a SQLite store, which a server can be using. Only the file's owner can read it. It has another
 * name until it is complete.
 *
 * @param store the path of the store
 * @param force replaces an existing file
 * @throws TerminalError if the file cannot be written
 */
export function writeBackupFile(store: string, file: string, { force }: { readonly force: boolean }): void {
  const part = `${file}.part`;
  try {
    // Reserves the name, so that no other program can create the file.
    if (!force) closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    throw toWriteError(error, file);
  }
  try {
    copyStore(store, part);
    renameSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    if (!force) rmSync(file, { force: true });
    throw toWriteError(error, file);
  }
}

/** Writes a backup to a pipe. @param folder for a temporary copy */
export async function writeBackupTo(target: NodeJS.WritableStream, store: string, folder: string): Promise<void> {
  const part = `${folder}/backup-${process.pid}.part`;
  try {
    copyStore(store, part);
    await pipeline(createReadStream(part), target, { end: false });
  } finally {
    rmSync(part, { force: true });
  }
}

/** Copies the store as of one moment, without deleted data and without the tables of `LEFT_OUT`. */
function copyStore(store: string, file: string): void {
  rmSync(file, { force: true });
  closeSync(openSync(file, 'wx', 0o600)); // SQLite would make it readable for everyone
  withDatabase(new DatabaseSync(store, { readOnly: true, timeout: PATIENCE }), (database) => {
    database.prepare('VACUUM INTO ?').run(file);
  });
  withDatabase(new DatabaseSync(file), (copy) => {
    // A journal would leave the deleted keys on disk.
    copy.exec('PRAGMA journal_mode = OFF; PRAGMA secure_delete = ON');
    const tables = copy.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    for (const { name } of tables) if (LEFT_OUT.includes(String(name))) copy.exec(`DELETE FROM ${name}`);
    copy.exec("DELETE FROM desk_meta WHERE name = 'salt'");
    copy.prepare("INSERT OR REPLACE INTO desk_meta (name, value) VALUES ('backup_at', ?)").run(String(Date.now()));
    requireSound(copy, "The backup was discarded because it failed SQLite's integrity check. Run the command again.");
  });
  const descriptor = openSync(file, 'r+');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

/**
 * Copies a backup to a new file and verifies it.
 *
 * @throws TerminalError if it is not a complete backup
 */
export function readBackupFile(file: string, copy: string): void {
  const start = readStart(file);
  if (start.startsWith('\x1f\x8b')) {
    throw new TerminalError(
      'This is a backup of version 0.1.0. Restore it with that version, then start this version, which upgrades the store. Nothing was restored.',
    );
  }
  if (start !== 'SQLite format 3\0') throw new TerminalError(NO_BACKUP);
  closeSync(openSync(copy, 'wx', 0o600));
  copyFileSync(file, copy);
  const broken = 'The backup is not complete or was changed. Nothing was restored.';
  try {
    withDatabase(new DatabaseSync(copy, { readOnly: true }), (database) => requireSound(database, broken));
  } catch (error) {
    throw error instanceof TerminalError ? error : new TerminalError(broken);
  }
}

export const NO_BACKUP = 'This file is not a backup of a desk. Nothing was restored.';

/** Returns the first 16 bytes, which name the format. */
function readStart(file: string): string {
  try {
    const descriptor = openSync(file, 'r');
    const bytes = Buffer.alloc(16);
    const length = readSync(descriptor, bytes);
    closeSync(descriptor);
    return bytes.toString('latin1', 0, length);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new TerminalError(
      code === 'ENOENT' ? `The file ${file} does not exist.` : `${file} cannot be read: ${message}.`,
    );
  }
}

function requireSound(database: DatabaseSync, message: string): void {
  if (database.prepare('PRAGMA quick_check(1)').get()?.quick_check !== 'ok') throw new TerminalError(message);
}

function withDatabase(database: DatabaseSync, work: (database: DatabaseSync) => void): void {
  try {
    work(database);
  } finally {
    database.close();
  }
}

function toWriteError(error: unknown, file: string): unknown {
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  if (code === 'EEXIST')
    return new TerminalError(`${file} already exists. Choose another name, or replace it with --force.`);
  if (code === 'ENOENT' && !existsSync(dirname(file))) {
    return new TerminalError(`The folder ${dirname(file)} does not exist. Create it first.`);
  }
  return syscall === undefined ? error : new TerminalError(`${file} cannot be written: ${message}.`);
}
