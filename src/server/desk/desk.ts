import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import type { ArrivingShape } from '../../shared/desk/shapes.ts';
import type { InFlightRequest } from '../engine/connection/in-flight.ts';
import type { Failure, Reporter } from '../engine/errors/failure.ts';
import type { Count } from '../engine/monitoring/count.ts';
import type { Feedback } from '../reports/feedback/feedback.ts';
import type { Salt } from '../reports/tunnel/visitors.ts';
import type { DeskLog } from './desk-log.ts';
import { type FileLock, takeLock } from './file-lock.ts';
import { createJournal, type Journal } from './ingest/journal.ts';
import { BEAT_INTERVAL, CLOSE_PATIENCE, PULSE_INTERVAL } from './limits.ts';
import type { NotifySettings } from './notifications/settings.ts';
import { createFindOldAsset, type FindOldAsset } from './old-assets.ts';
import type { DeskRetention } from './settings.ts';
import type { CallAnswer, CallArguments, CallName } from './worker/calls.ts';
import type { BlockedLoop } from './worker/processes/heartbeat.ts';
import { createSignals, type Signals, type StoreState } from './worker/signals.ts';
import { createWorkerThread, type WorkerState, type WorkerThread } from './worker/worker-thread.ts';

/** Stores failures and looks them up. The site works even if the desk fails. */
export interface Desk {
  readonly reporter: Reporter;
  /**
   * Stores a failure. When this returns, the failure is in this process's journal and survives a crash.
   *
   * @param sameVisitor the other hashes of its visitor since yesterday, for a browser's report
   * @returns false if it could not be written: the caller must then log all of it
   */
  journal(failure: Failure, sameVisitor?: readonly string[]): boolean;
  /** Stores a visitor's feedback in the same way. */
  journalFeedback(feedback: Feedback): boolean;
  /** Stores a salt that this process made, in the same way. Call it before anything that uses the salt is journaled. */
  journalSalt(salt: Salt): boolean;
  /**
   * Asks the desk worker.
   *
   * @throws StoreAwayError if the store cannot be used at the moment, or the worker does not answer
   * @throws QueryFailedError if only this query failed
   */
  ask<Name extends CallName>(name: Name, ...args: CallArguments<Name>): Promise<CallAnswer<Name>>;
  /** The current condition, known without waiting. */
  readonly condition: DeskCondition;
  /** Finds an asset of an earlier build, or of a newer build that another replica already runs. */
  readonly findOldAsset: FindOldAsset;
  /** Journaled data that is not in the store yet (bytes). */
  readonly waitingBytes: number;
  /** The size of each table after the last retention run (bytes). */
  readonly storedBytes: Readonly<Record<string, number>>;
  /** How far this process's clock was ahead of the store's clock at that time (ms). */
  readonly clockSkew: number;
  /** The failures that are journaled but not in the store yet. */
  readonly arriving: ArrivingShape;
  /** Calls that the desk worker has not answered yet (a count). */
  readonly pendingQuestions: number;
  /** Resolves when everything journaled is in the store. */
  flush(): Promise<void>;
  /**
   * Does the same and blocks the thread, for a process that is about to exit.
   *
   * @returns false if the time was up first; the journal keeps the data in any case
   */
  flushSync(timeoutMs: number): boolean;
  /** Stores what is left, and records that the process ends on purpose. Nothing is stored afterwards. */
  close(): Promise<void>;
}

export interface DeskCondition {
  readonly store: StoreState;
  readonly journal: 'written' | 'failing';
  readonly worker: WorkerState;
}

export interface DeskOptions {
  readonly dataDir: string;
  /** The URL of a PostgreSQL database. Without it, SQLite in `dataDir`, which only one process can use. */
  readonly databaseUrl?: string | undefined;
  readonly build: string;
  readonly release: string;
  /** The environment of this server, for the filter of the list. Several environments can share a store. */
  readonly environment: string;
  readonly namespace: string;
  readonly retention: DeskRetention;
  /** The folder of the build: `dist`. */
  readonly dist: string;
  /** The recipients of notifications; undefined if there are none. */
  readonly notify?: NotifySettings | undefined;
  /** Returns the requests in flight, oldest first, up to a limit. */
  readonly inFlight: () => readonly InFlightRequest[];
  /** Called when the event loop runs again after it was blocked for over a second. */
  readonly onBlockedLoop: (report: BlockedLoop) => void;
  readonly log: DeskLog;
  /** Called for each stored failure. */
  readonly count?: Count;
  /** The first wait before an unavailable store, or a refused batch, is tried again (ms). For tests. */
  readonly retryFirst?: number;
  /** Starts the desk worker so much later, or when something needs it (ms). */
  readonly startWithin?: number | undefined;
  /** Another entry file for the desk worker, for tests. */
  readonly workerFile?: string;
}

/** Thrown when another process uses the folder. The message says what to do. */
export class DeskInUseError extends Error {
  constructor(dataDir: string) {
    super(
      `Another server is using the folder ${dataDir} (DATA_DIR), and its SQLite database supports only one server. Stop that server, set a different DATA_DIR, or set DESK_DATABASE_URL to a PostgreSQL database that both can use.`,
    );
    this.name = 'DeskInUseError';
  }
}

/** Errors whose message says what to do. */
export const START_ERRORS = [DeskInUseError];

/**
 * Takes the folder and starts the desk worker. Does not wait for the store: it opens while pages load, and failures
 * until then are in the journal.
 *
 * @throws DeskInUseError if another process uses the folder
 */
export async function openDesk(options: DeskOptions): Promise<Desk> {
  const { dataDir, databaseUrl, log } = options;
  const run = createRunId();
  const locks = takeLocks({ dataDir, isAlone: databaseUrl === undefined, run, log });
  const signals = createSignals();
  const journal = createJournal({
    folder: join(dataDir, 'journal', run),
    signals,
    log: { warn: (message) => log.warn({}, message), error: (fields, message) => log.error(fields, message) },
  });
  const worker = createWorkerThread({
    file: options.workerFile ?? join(options.dist, 'server/desk-worker.js'),
    start: {
      signals: signals.buffer,
      run,
      startedAt: Date.now(),
      dataDir,
      databaseUrl,
      build: options.build,
      release: options.release,
      environment: options.environment,
      namespace: options.namespace,
      retention: options.retention,
      dist: options.dist,
      notify: options.notify,
      retryFirst: options.retryFirst,
    },
    log,
    count: options.count,
    onBlocked: options.onBlockedLoop,
    startWithin: options.startWithin,
    onRetained: ({ deleted }) => {
      for (const { table, reason, rows } of deleted) {
        options.count?.('spillway_desk_deleted_rows_total', { table, reason }, rows);
      }
    },
  });
  return new OpenDesk({ journal, worker, signals, locks, inFlight: options.inFlight, count: options.count });
}

/** Closes the desk if a start fails. Otherwise the next start would report an unclean death. */
export async function orClose<T>(desk: Pick<Desk, 'close'>, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    await desk.close();
    throw error;
  }
}

interface Locks {
  release(): void;
}

/** Returns an id that sorts by start time: `mf8x2k1a-9f4w0r6b`. */
function createRunId(): string {
  return `${Date.now().toString(36)}-${randomBytes(4).toString('hex')}`;
}

/** @throws DeskInUseError */
function takeLocks(options: { dataDir: string; isAlone: boolean; run: string; log: DeskLog }): Locks {
  const { dataDir, isAlone, run, log } = options;
  const journals = join(dataDir, 'journal');
  const lockFile = join(journals, `${run}.lock`);
  let instance: FileLock | undefined;
  let own: FileLock | undefined;
  try {
    mkdirSync(journals, { recursive: true, mode: 0o700 });
    instance = isAlone ? takeLock(join(dataDir, 'instance.lock')) : undefined;
    if (isAlone && !instance) throw new DeskInUseError(dataDir);
    own = takeLock(lockFile);
  } catch (error) {
    if (error instanceof DeskInUseError) throw error;
    log.error(
      { err: error },
      `The folder ${dataDir} (DATA_DIR) cannot be written to, so failures are recorded only in the log. Free disk space or fix the permissions, then restart.`,
    );
  }
  return {
    release() {
      // If the journal remains, the next process needs its lock file.
      if (own && !existsSync(join(journals, run))) removeQuietly(lockFile);
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

class OpenDesk implements Desk {
  readonly reporter: Reporter;
  readonly findOldAsset: FindOldAsset;
  readonly #journal: Journal;
  readonly #worker: WorkerThread;
  readonly #signals: Signals;
  readonly #locks: Locks;
  readonly #inFlight: () => readonly InFlightRequest[];
  readonly #count: Count | undefined;
  readonly #timers: readonly NodeJS.Timeout[];
  #closing: Promise<void> | undefined;

  constructor(parts: {
    journal: Journal;
    worker: WorkerThread;
    signals: Signals;
    locks: Locks;
    inFlight: () => readonly InFlightRequest[];
    count: Count | undefined;
  }) {
    this.#journal = parts.journal;
    this.#worker = parts.worker;
    this.#signals = parts.signals;
    this.#locks = parts.locks;
    this.#inFlight = parts.inFlight;
    this.#count = parts.count;
    this.reporter = { report: (failure) => this.journal(failure) };
    this.findOldAsset = createFindOldAsset((path) => this.#worker.ask('readAsset', path));
    this.#beat();
    this.#timers = [
      setInterval(() => this.#signals.pulse(), PULSE_INTERVAL).unref(),
      setInterval(() => this.#beat(), BEAT_INTERVAL).unref(),
    ];
  }

  get waitingBytes(): number {
    return this.#journal.waiting;
  }

  get storedBytes(): Readonly<Record<string, number>> {
    return this.#worker.retained?.bytes ?? {};
  }

  get clockSkew(): number {
    return this.#worker.retained?.clockSkew ?? 0;
  }

  journal(failure: Failure, sameVisitor?: readonly string[]): boolean {
    this.#count?.('spillway_failures_total', { side: failure.side, kind: failure.kind });
    const isStored = this.#journal.append(failure, sameVisitor);
    if (isStored) this.#signals.addJournaled(1);
    return this.#wakeIf(isStored);
  }

  journalFeedback(feedback: Feedback): boolean {
    return this.#wakeIf(this.#journal.appendFeedback(feedback));
  }

  journalSalt(salt: Salt): boolean {
    return this.#wakeIf(this.#journal.appendSalt(salt));
  }

  /** Wakes the desk worker once for everything journaled until it looks. */
  #wakeIf(isStored: boolean): boolean {
    if (isStored && this.#signals.setDirty()) this.#worker.wake();
    return isStored;
  }

  ask<Name extends CallName>(name: Name, ...args: CallArguments<Name>): Promise<CallAnswer<Name>> {
    return this.#worker.ask(name, ...args);
  }

  get condition(): DeskCondition {
    const { state: worker } = this.#worker;
    const store = worker === 'running' ? this.#signals.storeState : worker === 'starting' ? 'opening' : 'away';
    return { store, journal: this.#journal.isFailing ? 'failing' : 'written', worker };
  }

  get arriving(): ArrivingShape {
    return { count: this.#signals.arriving, hasMore: this.#signals.inherited > 0 };
  }

  get pendingQuestions(): number {
    return this.#worker.pending;
  }

  flush(): Promise<void> {
    return this.#worker.ask('flush');
  }

  flushSync(timeoutMs: number): boolean {
    // The answer is not needed.
    this.#worker.ask('flush').catch(() => undefined);
    this.#signals.waiting = true;
    try {
      return this.#signals.waitFor(this.#journal.end, timeoutMs);
    } finally {
      this.#signals.waiting = false;
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#journal.close();
    await Promise.race([this.#worker.ask('close').catch(() => undefined), sleep(2 * CLOSE_PATIENCE)]);
    await this.#worker.end();
    this.#locks.release();
  }

  #beat(): void {
    this.#journal.settle();
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
    this.#worker.beat({ inFlight: this.#inFlight(), memory: process.memoryUsage.rss(), heap: { used, limit } });
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
