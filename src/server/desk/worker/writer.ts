import { rmSync } from 'node:fs';
import type { Count } from '../../engine/monitoring/metrics.ts';
import type { DeskLog } from '../desk-log.ts';
import { dropSegments, type LogPosition } from '../ingest/segments.ts';
import { BATCH_BYTES, BATCH_TIME, GATHER_TIME, MAX_BATCH_TRIES, RETRY_FIRST, RETRY_LONGEST } from '../limits.ts';
import type { Batch } from '../store/ingest/ingest-batch.ts';
import { createSlots } from '../store/slots.ts';
import { QueryFailedError, StoreAwayError } from '../store/sql.ts';
import type { Prepare } from './prepare.ts';
import { type JournalPiece, readJournal } from './read-journal.ts';
import type { Signals } from './signals.ts';
import type { StoreHolder } from './store-holder.ts';

interface WriterOptions {
  /** The id of this process, and the folder of its journal. */
  readonly process: string;
  readonly folder: string;
  readonly signals: Pick<Signals, 'clearDirty' | 'position'>;
  readonly holder: Pick<StoreHolder, 'use'>;
  readonly prepare: Prepare;
  /** Called after each stored batch. */
  readonly onStored?: () => void;
  /** The first wait before the store is tried again (ms). */
  readonly retryFirst?: number;
  readonly count: Count;
  readonly log: DeskLog;
}

/** A journal that is stored. */
interface Source {
  readonly process: string;
  readonly folder: string;
  /** The environment of its process. Undefined for that of this process. */
  readonly environment: string | undefined;
  /** Whether its process is alive. */
  readonly isLive: boolean;
}

const REFUSED =
  'The store refused entries of the journal. They stay there, and Spillway tries again at growing intervals. Everything else continues.';
const DROPPED =
  'The store keeps refusing an entry of the journal. It is only in this log line. Everything else continues.';

export type Writer = ReturnType<typeof createWriter>;

/** Writes journals to the store. */
export function createWriter(options: WriterOptions) {
  const { process, folder, signals, holder, prepare, onStored, retryFirst = RETRY_FIRST, count, log } = options;
  const slots = createSlots({ count: 1 });
  const schedule = createSchedule(() => attempt(), retryFirst);
  let running: Promise<void> | undefined;
  let queued: Promise<void> | undefined;
  /** How often the batch at the front of each journal was refused. */
  const tries = new Map<string, number>();
  let isRefusalLogged = false;
  /** Whether the journal has more than can be stored while a call waits. */
  let isBehind = false;
  let batchBytes = BATCH_BYTES.least;
  let nextMove = Promise.withResolvers<void>();

  /** Stores the journal. Calls during an attempt share one more attempt, for entries that were appended since. */
  function attempt(): Promise<void> {
    if (!running) {
      running = storeOwn().finally(() => {
        running = undefined;
      });
      return running;
    }
    queued ??= running
      .catch(() => undefined)
      .then(() => {
        queued = undefined;
        return attempt();
      });
    return queued;
  }

  async function storeOwn(): Promise<void> {
    if (schedule.isStopped) throw new StoreAwayError('The desk is being closed.');
    // Cleared first, so that later entries wake the worker again.
    signals.clearDirty();
    try {
      await storeAll({ process, folder, environment: undefined, isLive: true });
    } catch (error) {
      // An unavailable store is already logged. The entries stay in the journal.
      if (!(error instanceof StoreAwayError)) noteRefusal(error);
      schedule.again();
      throw error;
    }
    if (isRefusalLogged) log.info({}, 'The store accepts the journal again.');
    isRefusalLogged = false;
    isBehind = false;
    schedule.reset();
    noteMove();
  }

  function noteMove(): void {
    nextMove.resolve();
    nextMove = Promise.withResolvers();
  }

  function noteRefusal(error: unknown): void {
    count('spillway_journal_refused_total', { outcome: 'retried' });
    batchBytes = BATCH_BYTES.least;
    if (!isRefusalLogged) log.error({ err: error }, REFUSED);
    isRefusalLogged = true;
  }

  /** Stores a journal piece by piece, so that several journals alternate and messages are handled in between. */
  async function storeAll(journal: Source): Promise<void> {
    let from: LogPosition | undefined;
    for (;;) {
      const next = await slots.use(() => storeNext(journal, from));
      if (!next) return;
      from = next;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** @returns the position after the stored piece, or undefined at the end of the journal */
  async function storeNext(journal: Source, known: LogPosition | undefined): Promise<LogPosition | undefined> {
    // Reads the position, because it is unknown whether a broken connection stored the last batch.
    const from = known ?? (await holder.use((store) => store.readPosition(journal.process)));
    if (!known && journal.isLive) signals.position = from;
    const piece = readJournal({ folder: journal.folder, live: journal.isLive, from, maxBytes: batchBytes });
    if (!piece) return undefined;
    const began = performance.now();
    await storePiece(journal, piece);
    const isShared = await holder.use(async (store) => store.isShared);
    const wanted = isShared ? BATCH_TIME.shared : BATCH_TIME.alone;
    batchBytes = toBatchBytes(batchBytes, (performance.now() - began) / wanted);
    dropSegments(journal.folder, piece.next);
    if (journal.isLive) {
      signals.position = piece.next;
      noteMove();
    }
    return piece.next;
  }

  async function storePiece({ process: of, environment }: Source, piece: JournalPiece): Promise<void> {
    const { entries, next, skipped } = piece;
    if (skipped > 0) log.warn({ process: of, lines: skipped }, 'A journal has incomplete lines, which were skipped.');
    const batch: Batch = {
      entries: await prepare(entries),
      revalidations: entries.flatMap((entry) => (entry.entry === 'revalidation' ? [entry.path] : [])),
      environment,
      from: { process: of, next },
    };
    try {
      await holder.use((store) => store.ingest(batch));
    } catch (error) {
      await storeAccepted(of, batch, error);
    }
    tries.delete(of);
    onStored?.();
  }

  /**
   * Stores a batch without the entries that the store never accepts, and after some tries without those that it keeps
   * refusing while it accepts others.
   *
   * @throws if the whole batch must stay in the journal
   */
  async function storeAccepted(of: string, batch: Batch, error: unknown): Promise<void> {
    if (!(error instanceof QueryFailedError)) throw error;
    const tried = (tries.get(of) ?? 0) + 1;
    tries.set(of, tried);
    if (error.reason !== 'value' && tried < MAX_BATCH_TRIES) throw error;
    const refused = await holder.use((store) => store.ingestEach(batch));
    for (const { entry, reason } of refused) {
      count('spillway_journal_refused_total', { outcome: 'dropped' });
      log.error({ reason, entry }, DROPPED);
    }
  }

  return {
    /** Schedules an attempt after something was appended. */
    wake: () => schedule.after(GATHER_TIME),
    /**
     * Stores everything that this process has appended so far.
     *
     * @throws StoreAwayError, or QueryFailedError if the store refuses it. The entries then stay in the journal
     */
    flush: attempt,
    /**
     * Waits until everything is stored, at most for this long (ms), and never rejects. Does not wait while more is in the
     * journal than can be stored in this time.
     */
    async settle(patience: number, { evenIfBehind = false } = {}): Promise<void> {
      if ((isBehind && !evenIfBehind) || schedule.isWaiting) return;
      const done = attempt().then(
        () => true,
        () => true,
      );
      isBehind = !(await Promise.race([done, sleep(patience)]));
    },
    /** Whether entries of this process wait in the journal, as far as is known. */
    get isBehind() {
      return isBehind || schedule.isWaiting;
    },
    /** Resolves once more of this process's journal is stored. */
    moved: () => nextMove.promise,
    /** Stores the whole journal of an ended process, and removes it. This process's own journal is the last. */
    async adopt(journal: Pick<Source, 'process' | 'folder' | 'environment'>): Promise<void> {
      if (journal.process === process) await running?.catch(() => undefined);
      await storeAll({ ...journal, isLive: false });
      rmSync(journal.folder, { recursive: true, force: true });
      await holder.use((store) => store.forgetJournal(journal.process));
    },
    stop: () => schedule.stop(),
  };
}

/** Repeats work at growing intervals while it fails. */
function createSchedule(work: () => Promise<void>, first: number) {
  let timer: NodeJS.Timeout | undefined;
  let wait = first;
  /** When the work is tried again after it failed (ms, monotonic). */
  let waitsUntil = Number.NEGATIVE_INFINITY;
  let isStopped = false;

  function after(delay: number): void {
    if (timer || isStopped) return;
    timer = setTimeout(() => {
      timer = undefined;
      work().catch(() => undefined);
    }, delay);
  }

  return {
    after,
    again() {
      waitsUntil = performance.now() + wait;
      after(wait);
      wait = Math.min(wait * 2, RETRY_LONGEST);
    },
    reset() {
      waitsUntil = Number.NEGATIVE_INFINITY;
      wait = first;
    },
    get isWaiting() {
      return performance.now() < waitsUntil;
    },
    get isStopped() {
      return isStopped;
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

/** Adapts the size of the next batch. @param share the time of the last batch, divided by the wanted time */
function toBatchBytes(bytes: number, share: number): number {
  if (share > 2) return Math.max(bytes / 2, BATCH_BYTES.least);
  return share < 1 ? Math.min(bytes * 2, BATCH_BYTES.most) : bytes;
}

/** Resolves to `false` after this time. */
function sleep(ms: number): Promise<false> {
  return new Promise((resolve) => setTimeout(resolve, ms, false));
}
