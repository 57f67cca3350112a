import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Second } from '../../../shared/units.ts';
import type { DeskLog } from '../desk-log.ts';
import { type FileLock, takeLock } from '../file-lock.ts';
import { listNames, listSegments } from '../ingest/segments.ts';
import type { Signals } from '../ingest/signals.ts';
import type { ProcessJournal } from './move-journal.ts';
import type { ProcessRecords } from './process-records.ts';
import type { Writer } from './writer.ts';

/** The time that a process has for this (ms). */
const LOCKED_AFTER = 2 * Second;

/** The journal of a dead process, whose lock this process has taken. */
interface DeadJournal extends ProcessJournal {
  /** The size of its segments (bytes). */
  readonly bytes: number;
  /** Releases the lock. Also deletes its file if the journal is gone. */
  release(isGone: boolean): void;
}

interface AdoptOptions {
  readonly writer: Pick<Writer, 'adopt'>;
  readonly processes: Pick<ProcessRecords, 'endOf'>;
  readonly signals: Pick<Signals, 'inherited'>;
  readonly log: DeskLog;
}

export type DeadJournals = ReturnType<typeof createDeadJournals>;

/**
 * The journals of dead processes, which this process stores.
 *
 * @param folder the folder of all journals
 * @param own the id of this process
 */
export function createDeadJournals(folder: string, own: string, { writer, processes, signals, log }: AdoptOptions) {
  let dead: readonly DeadJournal[] = [];

  /** Takes them over, and counts what waits in them. */
  function claim(): void {
    dead = [...dead, ...claimDeadJournals(folder, own, log)];
    noteInherited();
  }

  function noteInherited(): void {
    signals.inherited = dead.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  return {
    claim,
    /** Stores them. Records the death first, so that it is not recorded without its journal. */
    async adoptAll(): Promise<void> {
      // Again, because a process can have ended while the store was unavailable.
      claim();
      for (const journal of dead) {
        const environment = await processes.endOf(journal);
        await writer.adopt(journal, environment);
        dead = dead.filter((other) => other !== journal);
        journal.release(true);
        noteInherited();
      }
    },
    /** Leaves journals that are not stored yet to another process. */
    release(): void {
      for (const journal of dead) journal.release(false);
    },
  };
}

/**
 * Finds the journals of dead processes, and takes their locks. If a lock is held, a process in this or another
 * container uses the journal.
 *
 * @param folder the folder of all journals
 * @param own the id of this process
 */
function claimDeadJournals(folder: string, own: string, log: DeskLog): readonly DeadJournal[] {
  const names = listNames(folder);
  // Without a failure, a process only has its lock.
  const locked = names.filter((name) => name.endsWith('.lock') && !isStarting(join(folder, name)));
  const processes = new Set([...names, ...locked.map((name) => name.slice(0, -'.lock'.length))]);
  return [...processes]
    .filter((process) => /^[\w-]+$/.test(process) && process !== own)
    .flatMap((process) => claim(folder, process, log) ?? []);
}

/** Whether a process can have created the file, and not locked it yet. */
function isStarting(lock: string): boolean {
  return Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0) < LOCKED_AFTER;
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
      // SQLite leaves it when a process is killed.
      if (isGone) rmSync(`${path}-journal`, { force: true });
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
