import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Day } from '../../../shared/units.ts';
import type { DeskLog } from '../desk-log.ts';
import { type FileLock, takeLock } from '../file-lock.ts';
import { listSegments } from '../ingest/segment-files.ts';

/** A journal whose process is dead, as its lock tells. */
export interface DeadJournal {
  readonly run: string;
  readonly folder: string;
  /** What it holds (bytes). */
  readonly bytes: number;
  /** Lets go of it; a journal that is gone takes its lock with it. */
  release(isGone: boolean): void;
}

/**
 * Finds the journals of dead processes, and takes their locks. A journal whose lock is held is
 * somebody's, in this container or another.
 *
 * @param folder of all journals
 * @param own the run of this process
 */
export function claimDeadJournals(folder: string, own: string, log: DeskLog): readonly DeadJournal[] {
  const names = listNames(folder);
  dropStrayLocks(folder, names);
  return names.filter((run) => /^[\w-]+$/.test(run) && run !== own).flatMap((run) => claim(folder, run, log) ?? []);
}

/** The file that tells whether the process of a run lives. */
function toLockPath(folder: string, run: string): string {
  return join(folder, `${run}.lock`);
}

function claim(folder: string, run: string, log: DeskLog): DeadJournal | undefined {
  const path = toLockPath(folder, run);
  const lock = tryLock(path, log);
  if (!lock) return undefined;
  const journal = join(folder, run);
  return {
    run,
    folder: journal,
    bytes: listSegments(journal).reduce((sum, segment) => sum + sizeOf(segment.path), 0),
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
    log.warn({ err: error, file: path }, 'The journal of a process that ended cannot be taken over.');
    return undefined;
  }
}

/** Of a process that ended before it had a journal. A young one may be just about to. */
function dropStrayLocks(folder: string, names: readonly string[]): void {
  for (const name of names) {
    if (!name.endsWith('.lock') || names.includes(name.slice(0, -'.lock'.length))) continue;
    const path = join(folder, name);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age <= Day) continue;
    rmSync(path, { force: true });
    // SQLite's, of a process that was killed.
    rmSync(`${path}-journal`, { force: true });
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
