import { rmSync } from 'node:fs';
import type { Count } from '../../../server/request/counters.ts';
import type { DeskLog } from '../desk-log.ts';
import { dropSegments } from '../ingest/segments.ts';
import { BATCH_BYTES, GATHER_TIME, MAX_BATCH_TRIES, RETRY_FIRST, RETRY_LONGEST } from '../limits.ts';
import type { Batch } from '../store/ingest/ingest-batch.ts';
import { QueryFailedError, StoreAwayError, StoreError } from '../store/sql.ts';
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

const DROPPED =
  'The store keeps refusing an entry of the journal. It is only in this log line. Everything else continues.';

export type Writer = ReturnType<typeof createWriter>;

/** Writes journals to the store. */
export function createWriter(options: WriterOptions) {
  const { process, folder, signals, holder, prepare, onStored, retryFirst = RETRY_FIRST, count, log } = options;
  let running: Promise<void> | undefined;
  let queued: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  /** The wait after the next failure (ms), and until when the last one waits (ms, monotonic). */
  let wait = retryFirst;
  let waitsUntil = Number.NEGATIVE_INFINITY;
  /** How often the batch at the front of each journal was refused. */
  const tries = new Map<string, number>();
  /** Whether the journal has more than could be stored while a call waited. */
  let isBehind = false;

  function schedule(delay: number): void {
    if (timer || isStopped) return;
    timer = setTimeout(() => {
      timer = undefined;
      attempt().catch(() => undefined);
    }, delay);
  }

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
    if (isStopped) throw new StoreAwayError('The desk is being closed.');
    // Cleared first, so that later entries wake the worker again.
    signals.clearDirty();
    try {
      await storeAll({ process, folder, environment: undefined, isLive: true });
    } catch (error) {
      // Errors of the store are already logged. The entries stay in the journal.
      if (!(error instanceof StoreError)) log.error({ err: error }, 'The journal could not be stored.');
      if (error instanceof QueryFailedError) count('spillway_journal_refused_total', { outcome: 'retried' });
      waitsUntil = performance.now() + wait;
      schedule(wait);
      wait = Math.min(wait * 2, RETRY_LONGEST);
      throw error;
    }
    isBehind = false;
    waitsUntil = Number.NEGATIVE_INFINITY;
    wait = retryFirst;
  }

  /** Stores a journal piece by piece, so that messages are handled in between. */
  async function storeAll(journal: Source): Promise<void> {
    // Read from the store, because it is unknown whether a broken connection stored the last batch.
    let from = await holder.use((store) => store.readPosition(journal.process));
    for (;;) {
      if (journal.isLive) signals.position = from;
      const piece = readJournal({ folder: journal.folder, live: journal.isLive, from, maxBytes: BATCH_BYTES });
      if (!piece) return;
      await storePiece(journal, piece);
      from = piece.next;
      dropSegments(journal.folder, from);
      await new Promise((resolve) => setImmediate(resolve));
    }
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
    wake: () => schedule(GATHER_TIME),
    /**
     * Stores everything that this process has appended so far.
     *
     * @throws StoreAwayError, or QueryFailedError if the store refuses it. The entries then stay in the journal
     */
    flush: attempt,
    /**
     * Waits until everything is stored, at most for this long (ms), and never rejects. Does not wait while more is in the
     * journal than could be stored during the last wait.
     */
    async settle(patience: number, { evenIfBehind = false } = {}): Promise<void> {
      if ((isBehind && !evenIfBehind) || performance.now() < waitsUntil) return;
      const done = attempt().then(
        () => true,
        () => true,
      );
      isBehind = !(await Promise.race([done, sleep(patience)]));
    },
    /** Whether entries of this process wait in the journal, as far as is known. */
    get isBehind() {
      return isBehind || performance.now() < waitsUntil;
    },
    /** Stores the whole journal of an ended process, and removes it. This process's own journal is the last. */
    async adopt(journal: Pick<Source, 'process' | 'folder' | 'environment'>): Promise<void> {
      if (journal.process === process) await running?.catch(() => undefined);
      await storeAll({ ...journal, isLive: false });
      rmSync(journal.folder, { recursive: true, force: true });
      await holder.use((store) => store.forgetJournal(journal.process));
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

/** Resolves to `false` after this time. */
function sleep(ms: number): Promise<false> {
  return new Promise((resolve) => setTimeout(resolve, ms, false));
}
