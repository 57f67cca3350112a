import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Day } from '../../../shared/units.ts';
import type { DeskLog } from '../desk-log.ts';
import { type FileLock, takeLock } from '../file-lock.ts';
import { listNames, listSegments } from '../ingest/segments.ts';

/** The journal of a dead process, whose lock this process has taken. */
export interface DeadJournal {
  readonly process: string;
  readonly folder: string;
  /** The size of its segments (bytes). */
  readonly bytes: number;
  /** Releases the lock. Also deletes its file if the journal is gone. */
  release(isGone: boolean): void;
}

/**
 * Finds the journals of dead processes, and takes their locks. If a lock is held, a process in this or another
 * container uses the journal.
 *
 * @param folder the folder of all journals
 * @param own the id of this process
 */
export function claimDeadJournals(folder: string, own: string, log: DeskLog): readonly DeadJournal[] {
  const names = listNames(folder);
  dropStrayLocks(folder, names, log);
  return names
    .filter((process) => /^[\w-]+$/.test(process) && process !== own)
    .flatMap((process) => claim(folder, process, log) ?? []);
}

function claim(folder: string, process: string, log: DeskLog): DeadJournal | undefined {
  // A process locks this file while it is alive.
  const path = join(folder, `${process}.lock`);
  const lock = tryLock(path, log);
  if (!lock) return undefined;
  const journal = join(folder, process);
  return {
    process,
    folder: journal,
    bytes: listSegments(journal).reduce(
      (sum, { path }) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0),
      0,
    ),
    release(isGone) {
      if (isGone) rmSync(path, { force: true });
      lock.release();
    },
  };
}

function tryLock(path: string, log: DeskLog): FileLock | undefined {
  try {
    return takeLock(path);
  } catch (error) {
    log.warn(
      { err: error, file: path },
      'The journal of an ended process cannot be locked, so its failures are not stored. Check the permissions of the file.',
    );
    return undefined;
  }
}

/** Deletes old locks of processes that ended before they had a journal. New ones can belong to a starting process. */
function dropStrayLocks(folder: string, names: readonly string[], log: DeskLog): void {
  for (const name of names) {
    if (!name.endsWith('.lock') || names.includes(name.slice(0, -'.lock'.length))) continue;
    const path = join(folder, name);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    // A process that has had no failure for a day still holds its lock.
    const lock = age > Day ? tryLock(path, log) : undefined;
    if (!lock) continue;
    rmSync(path, { force: true });
    lock.release();
    // A file that SQLite leaves when a process is killed.
    rmSync(`${path}-journal`, { force: true });
  }
}
