import { DatabaseSync } from 'node:sqlite';

/** Held until it is released, or until the process ends in whatever way. */
export interface FileLock {
  release(): void;
}

/** `SQLITE_BUSY`: somebody else holds it. */
const BUSY = 5;

/**
 * Takes a lock that the system itself lets go of when its process dies: an exclusive SQLite
 * transaction on an empty file of its own. A file with a process id in it would not do, because
 * every process in a container is number 1.
 *
 * @returns undefined where another process, or another thread of this one, holds it
 * @throws where the file can be neither made nor opened
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
