import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DeskCount } from '../counters.ts';
import { GATHER_TIME, RETRY_LONGEST } from '../desk-limits.ts';
import type { DeskLog } from '../desk-log.ts';
import type { Signals } from '../ingest/signals.ts';
import { QueryFailedError, StoreAwayError, StoreError } from '../store/sql.ts';
import type { WithStore } from '../store/store-holder.ts';
import type { MoveJournal, ProcessJournal } from './move-journal.ts';

interface WriterOptions {
  readonly moveJournal: MoveJournal;
  readonly signals: Pick<Signals, 'clearDirty' | 'position'>;
  readonly withStore: WithStore;
  /** The first wait before the store is tried again (ms). */
  readonly retryFirst: number;
  readonly count: DeskCount;
  readonly log: DeskLog;
}

export type Writer = ReturnType<typeof createWriter>;

/**
 * Writes journals to the store: that of this process when it grows, and again if it failed.
 *
 * @param journal that of this process
 */
export function createWriter(journal: ProcessJournal, options: WriterOptions) {
  const { moveJournal, signals, withStore, retryFirst, count, log } = options;
  const attempts = createRuns(storeOwn);
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  /** The wait after the next failure (ms), and until when the last one waits (ms, monotonic). */
  let wait = retryFirst;
  let waitsUntil = Number.NEGATIVE_INFINITY;
  /** Whether the journal has more than could be stored while a call waited. */
  let isBehind = false;

  function schedule(delay: number): void {
    if (timer || isStopped) return;
    timer = setTimeout(() => {
      timer = undefined;
      attempts.run().catch(() => undefined);
    }, delay);
  }

  async function storeOwn(): Promise<void> {
    if (isStopped) throw new StoreAwayError('The desk is being closed.');
    // Cleared first, so that later entries wake the worker again.
    signals.clearDirty();
    try {
      await moveJournal(journal, {
        onLivePosition(position) {
          signals.position = position;
        },
      });
    } catch (error) {
      noteFailure(error);
      throw error;
    }
    isBehind = false;
    waitsUntil = Number.NEGATIVE_INFINITY;
    wait = retryFirst;
  }

  /** Errors of the store are already logged. The entries stay in the journal. */
  function noteFailure(error: unknown): void {
    if (!(error instanceof StoreError)) log.error({ err: error }, 'The journal could not be stored.');
    if (error instanceof QueryFailedError) count('spillway_journal_refused_total', { outcome: 'retried' });
    waitsUntil = performance.now() + wait;
    schedule(wait);
    wait = Math.min(wait * 2, RETRY_LONGEST);
  }

  return {
    /** Schedules an attempt after something was appended. */
    wake: () => schedule(GATHER_TIME),
    /**
     * Stores everything that this process has appended so far.
     *
     * @throws StoreAwayError, or QueryFailedError if the store refuses it. The entries then stay in the journal
     */
    flush: attempts.run,
    /**
     * Waits until everything is stored, at most for this long (ms), and never rejects. Does not wait while more is in the
     * journal than could be stored during the last wait.
     */
    async settle(patience: number, { evenIfBehind = false } = {}): Promise<void> {
      if ((isBehind && !evenIfBehind) || performance.now() < waitsUntil) return;
      const done = attempts.run().then(
        () => true,
        () => true,
      );
      isBehind = !(await Promise.race([done, sleep(patience, false)]));
    },
    /** Whether entries of this process wait in the journal, as far as is known. */
    get isBehind() {
      return isBehind || performance.now() < waitsUntil;
    },
    /** Stores the whole journal of an ended process, and removes it. This process's own journal is the last. */
    async adopt({ process, folder }: ProcessJournal, environment: string): Promise<void> {
      if (process === journal.process) await attempts.end();
      await moveJournal({ process, folder }, { environment });
      rmSync(folder, { recursive: true, force: true });
      await withStore((store) => store.journals.forgetJournal(process));
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

/** Does work one at a time. Calls during a run share one more run, for what was added since. */
function createRuns(work: () => Promise<void>) {
  let running: Promise<void> | undefined;
  let queued: Promise<void> | undefined;

  function run(): Promise<void> {
    if (!running) {
      running = work().finally(() => {
        running = undefined;
      });
      return running;
    }
    queued ??= running
      .catch(() => undefined)
      .then(() => {
        queued = undefined;
        return run();
      });
    return queued;
  }

  return {
    run,
    /** Waits for the present run, and never rejects. */
    end: () => running?.catch(() => undefined),
  };
}
