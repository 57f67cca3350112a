import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import { type Failure, StartError } from '#engine/tracker';
import { JOURNAL_FOLDER, LOCK_FILE } from './data-files.ts';
import { CLOSE_PATIENCE, HEARTBEAT_INTERVAL, MAX_REVALIDATED, PULSE_INTERVAL } from './desk-limits.ts';
import type { DeskLog } from './desk-log.ts';
import { type FileLock, takeLock } from './file-lock.ts';
import { createJournal } from './ingest/journal.ts';
import { createSignals } from './ingest/signals.ts';
import { createFindOldAsset } from './old-assets.ts';
import { withinTime } from './within-time.ts';
import type { Running, Storing } from './worker/messages.ts';
import { markEnded } from './worker/process-records.ts';
import { createWorkerThread, type DeskReports } from './worker/worker-thread.ts';

export type Desk = Awaited<ReturnType<typeof openDesk>>;

export interface DeskOptions {
  readonly running: Running;
  readonly storing: Storing;
  /** The requests in flight, for `readInFlight()`. */
  readonly inFlight: SharedArrayBuffer;
  /** Starts the desk worker so much later, or when something needs it (ms). */
  readonly startWithin?: number | undefined;
  /** Another entry file for the desk worker, for tests. */
  readonly workerFile?: string;
}

/** Thrown when another process uses the folder. The message says what to do. */
export class DeskInUseError extends StartError {
  constructor(dataDir: string) {
    super(
      `Another server is using the folder ${dataDir} (DATA_DIR), and its SQLite database supports only one server. Stop that server, set a different DATA_DIR, or set DESK_DATABASE_URL to a PostgreSQL database that both can use.`,
    );
  }
}

/** Thrown when the file system of the folder does not support locks. */
class NoLocksError extends StartError {
  constructor(dataDir: string) {
    super(
      `The folder ${dataDir} (DATA_DIR) is on a file system without file locks (ENOLCK), such as a network folder or a bucket. Set DATA_DIR to a folder on a local disk. If a process dies, its journal cannot be stored.`,
    );
  }
}

/** Names this process and its machine, such as `mf8x2k1a-9f4w0r6b-web-1`. The names sort by start time. */
function nameProcess(): string {
  const host = hostname().replace(/[^\w-]+/g, '-');
  return [Date.now().toString(36), randomBytes(4).toString('hex'), host].join('-').slice(0, 80);
}

/**
 * Opens the desk, which stores failures and looks them up. The site works even if the desk fails. Takes the folder and
 * starts the desk worker. Does not wait for the store: it opens while pages load, and failures until
 * then are in the journal.
 *
 * @throws StartError if another process uses the folder, or if its file system does not support locks
 */
export async function openDesk(options: DeskOptions, reports: DeskReports) {
  const { running, storing, inFlight, startWithin } = options;
  const { workerFile = join(running.dist, 'server/desk-worker.js') } = options;
  const { log } = reports;
  const { dataDir, databaseUrl } = storing;
  const process = nameProcess();
  const locks = takeLocks({ dataDir, isAlone: databaseUrl === undefined, process, log });
  const signals = createSignals();
  const folder = join(dataDir, JOURNAL_FOLDER, process);
  const journal = createJournal({ folder, signals, log });
  const worker = createWorkerThread(
    {
      file: workerFile,
      start: {
        process,
        startedAt: Date.now(),
        heapLimit: getHeapStatistics().heap_size_limit,
        signals: signals.buffer,
        inFlight,
        running,
        storing,
      },
      startWithin,
    },
    reports,
  );
  const timers = [
    setInterval(() => signals.pulse(getHeapStatistics().used_heap_size), PULSE_INTERVAL).unref(),
    setInterval(journal.settle, HEARTBEAT_INTERVAL).unref(),
  ];
  let closing: Promise<void> | undefined;
  let isClosed = false;

  /** Wakes the desk worker once for everything journaled until it looks. */
  function wakeIf(isStored: boolean): boolean {
    if (isStored && signals.setDirty()) worker.wake();
    return isStored;
  }

  async function close(): Promise<void> {
    for (const timer of timers) clearInterval(timer);
    journal.close();
    await withinTime(2 * CLOSE_PATIENCE, worker.calls.close()).catch(() => undefined);
    await worker.end();
    locks.release();
    isClosed = true;
  }

  return {
    /** What the desk worker answers. */
    calls: worker.calls,
    /** Finds an asset of an earlier build, or of a newer build that another replica already runs. */
    findOldAsset: createFindOldAsset(worker.calls.readAsset),
    /**
     * Stores a failure. When this returns, the failure is in this process's journal and survives a crash.
     *
     * @returns false if it could not be written: the caller must then log all of it
     */
    journal: (failure: Failure): boolean => wakeIf(journal.append(failure)),
    /** Lets all replicas render a page again, also after a crash or while the store is unavailable. */
    journalRevalidation: (path: string): boolean =>
      Buffer.byteLength(path) <= MAX_REVALIDATED && wakeIf(journal.appendRevalidation(path)),
    /** The current condition, known without waiting. */
    get condition() {
      const { state } = worker;
      const store = state === 'running' ? signals.storeState : state === 'starting' ? 'opening' : 'away';
      return { store, journal: journal.isFailing ? 'failing' : 'written', worker: state } as const;
    },
    /** Journaled data that is not in the store yet (bytes). */
    get waitingBytes() {
      return journal.waiting;
    },
    /** The size of the store after the last retention run (bytes). */
    get storedBytes() {
      return worker.retained?.bytes ?? 0;
    },
    /** Calls that the desk worker has not answered yet (a count). */
    get pendingCalls() {
      return worker.pending;
    },
    /**
     * Stores everything that was journaled, and blocks the thread, for a process that is about to exit.
     *
     * @returns false if the time was up first. The journal keeps the data in any case
     */
    flushSync(timeoutMs: number): boolean {
      // The answer is not needed.
      worker.calls.flush().catch(() => undefined);
      signals.waiting = true;
      try {
        return signals.waitFor(journal.end, timeoutMs);
      } finally {
        signals.waiting = false;
      }
    },
    /** Records that the process ends on purpose, for one that cannot wait for `close()`. */
    markEnded(): void {
      if (!isClosed) markEnded(folder);
    },
    /** Stores what is left, and records that the process ends on purpose. Nothing is stored afterwards. */
    close(): Promise<void> {
      closing ??= close();
      return closing;
    },
  };
}

interface LockOptions {
  readonly dataDir: string;
  /** Whether only one process can use the folder. */
  readonly isAlone: boolean;
  readonly process: string;
  readonly log: DeskLog;
}

/** @throws DeskInUseError, or NoLocksError */
function takeLocks({ dataDir, isAlone, process, log }: LockOptions): { release(): void } {
  const journals = join(dataDir, JOURNAL_FOLDER);
  const lockFile = join(journals, `${process}.lock`);
  let instance: FileLock | undefined;
  let own: FileLock | undefined;
  try {
    mkdirSync(journals, { recursive: true, mode: 0o700 });
    own = takeLock(lockFile);
    // Only this process knows the name, but SQLite also reports ENOLCK as a lock of another one.
    const noLocks = own ? undefined : new NoLocksError(dataDir);
    if (noLocks && isAlone) throw noLocks;
    if (noLocks) log.error({}, noLocks.message);
    instance = isAlone ? takeLock(join(dataDir, LOCK_FILE)) : undefined;
    if (isAlone && !instance) {
      own?.release();
      removeQuietly(lockFile);
      throw new DeskInUseError(dataDir);
    }
  } catch (error) {
    if (error instanceof StartError) throw error;
    log.error(
      { err: error },
      `The folder ${dataDir} (DATA_DIR) cannot be written to, so failures are recorded only in the log. Free disk space or fix the permissions, then restart.`,
    );
  }
  return {
    release() {
      // If the journal remains, the next process needs its lock file.
      if (own && !existsSync(join(journals, process))) removeQuietly(lockFile);
      own?.release();
      instance?.release();
    },
  };
}

/** Ignores a failure, because the folder can be read-only or gone. The next start removes the file. */
function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // A stray lock is harmless.
  }
}
