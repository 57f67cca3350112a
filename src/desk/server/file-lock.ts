import { DatabaseSync } from 'node:sqlite';

/** A lock that is held until it is released or the process ends, even by a crash. */
export interface FileLock {
  release(): void;
}

/** `SQLITE_BUSY`: another connection holds the lock. */
const BUSY = 5;

/**
 * Takes a lock that the operating system releases when the process dies: an exclusive SQLite transaction on a separate
 * empty file. A file with a process id would not work, because every process in a container has id 1.
 *
 * @returns undefined if another process, or another thread of this one, holds it
 * @throws if the file can be neither created nor opened
 */
export function takeLock(path: string): FileLock | undefined {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
  return { release: () => database.close() };
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && Number(error.errcode) % 256 === BUSY;
}
