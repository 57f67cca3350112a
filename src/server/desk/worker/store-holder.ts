import { Minute, Second } from '../../../shared/units.ts';
import type { Count } from '../../engine/monitoring/count.ts';
import type { DeskLog } from '../desk-log.ts';
import { RETRY_FIRST, RETRY_LONGEST } from '../limits.ts';
import { QueryFailedError, StoreAwayError } from '../store/sql.ts';
import type { Store } from '../store/store.ts';

/** The store, which may come late, go away and come back. */
export type StoreHolder = ReturnType<typeof createStoreHolder>;

interface StoreHolderOptions {
  readonly open: () => Promise<Store>;
  /** The first wait before it is tried again (ms). */
  readonly retryFirst?: number;
  readonly count: Count;
  readonly log: DeskLog;
  /** Told each time when it can be used again, the first time too. */
  readonly onOpen: () => void;
  /** Told each time when it cannot be. */
  readonly onAway?: () => void;
}

/** An opening that takes longer is logged (ms). */
const LONG_OPENING = 10 * Second;
/** Between two lines of the log about queries that failed for one reason (ms). */
const FAILURE_LOG_INTERVAL = 1 * Minute;

export function createStoreHolder(options: StoreHolderOptions) {
  const { open, retryFirst = RETRY_FIRST, count, log, onOpen, onAway } = options;
  let store: Store | undefined;
  let since: number | undefined;
  let wait = retryFirst;
  let timer: NodeJS.Timeout | undefined;
  let isTold = false;
  let isClosed = false;
  let firstTry: Promise<void> | undefined;
  let isChecking = false;
  const loggedAt = new Map<string, number>();

  async function connect(): Promise<void> {
    timer = undefined;
    try {
      if (store) await checkAnswers(store);
      else store = await openPatiently();
    } catch (error) {
      noteAway(error);
      return;
    }
    if (isClosed) await store.close();
    else noteBack();
  }

  async function openPatiently(): Promise<Store> {
    const late = setTimeout(() => log.warn({}, LONG), LONG_OPENING);
    try {
      return await open();
    } finally {
      clearTimeout(late);
    }
  }

  /** A database that refuses the statement of the check is there. @throws StoreAwayError */
  async function checkAnswers(opened: Store): Promise<void> {
    try {
      await opened.check();
    } catch (error) {
      if (!(error instanceof QueryFailedError)) throw error;
      noteFailure(error);
    }
  }

  function noteFailure(error: QueryFailedError): void {
    const { reason, message } = error;
    count('spillway_desk_query_failures_total', { reason });
    const now = performance.now();
    if (now - (loggedAt.get(reason) ?? Number.NEGATIVE_INFINITY) < FAILURE_LOG_INTERVAL) return;
    loggedAt.set(reason, now);
    log.warn({ reason: message }, FAILED[reason]);
  }

  /** The database may have been emptied. */
  async function checkTables(opened: Store): Promise<void> {
    if (isChecking) return;
    isChecking = true;
    try {
      await checkAnswers(opened);
    } catch (error) {
      noteAway(error);
    } finally {
      isChecking = false;
    }
  }

  function noteBack(): void {
    if (since !== undefined) return;
    since = performance.now();
    wait = retryFirst;
    if (isTold) log.info({}, "The desk's store is back: what waited in the journal is taken in.");
    isTold = false;
    onOpen();
  }

  function noteAway(error: unknown): void {
    since = undefined;
    if (isClosed) return;
    onAway?.();
    if (!isTold) {
      log.error(
        { err: error },
        "The desk's store cannot be used. Pages are served as before, and failures wait in the journal until it is back.",
      );
      isTold = true;
    }
    if (error instanceof StoreAwayError && error.isGone) void dropStore();
    if (timer) return;
    timer = setTimeout(connect, wait);
    wait = Math.min(wait * 2, RETRY_LONGEST);
  }

  async function dropStore(): Promise<void> {
    const gone = store;
    store = undefined;
    await gone?.close().catch(() => undefined);
  }

  return {
    /** Opens it, now or as soon as it can be. */
    start() {
      firstTry ??= connect();
    },
    /** Since when it could be used without a break (ms, monotonic); undefined while it cannot. */
    get reachableSince() {
      return since;
    },
    /**
     * Waits for the first opening.
     *
     * @throws StoreAwayError if the store cannot be used at the moment
     * @throws QueryFailedError if only this query failed, which is logged here
     */
    async use<T>(work: (store: Store) => Promise<T>): Promise<T> {
      await firstTry;
      if (!store || since === undefined) throw new StoreAwayError("The desk's store cannot be used at the moment.");
      try {
        return await work(store);
      } catch (error) {
        if (error instanceof StoreAwayError) noteAway(error);
        if (error instanceof QueryFailedError) noteFailure(error);
        if (error instanceof QueryFailedError && error.isTableMissing) void checkTables(store);
        throw error;
      }
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await dropStore();
    },
  };
}

const LONG =
  "The desk's store is still being opened. Changing the schema of a large store takes minutes, and so does waiting for another process that does it. Failures wait in the journal until then.";

const FAILED = {
  value: 'The database of the desk refused a value.',
  slow: 'A query of the desk took too long, or waited too long for a lock. Only what needed it failed.',
  busy: 'A query of the desk found no free connection, or the database locked by another program. Only what needed it failed.',
  refused: 'The database of the desk refused a query. Only what needed it failed.',
  arriving: 'A failure was asked for that is not in the store yet.',
} as const satisfies Record<QueryFailedError['reason'], string>;
