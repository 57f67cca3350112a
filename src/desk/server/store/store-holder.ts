import { Minute } from '../../../shared/units.ts';
import type { DeskCount } from '../counters.ts';
import { RETRY_LONGEST } from '../desk-limits.ts';
import type { DeskLog } from '../desk-log.ts';
import type { Signals } from '../ingest/signals.ts';
import { QueryFailedError, StoreAwayError } from './sql.ts';
import type { Store } from './store.ts';

/** Holds the store, which can open late, become unavailable, and be back later. */
export type StoreHolder = ReturnType<typeof createStoreHolder>;

/** Works with the store, as `use` of its holder does. */
export type WithStore = StoreHolder['use'];

interface StoreHolderOptions {
  readonly open: () => Promise<Store>;
  readonly signals: Pick<Signals, 'storeState'>;
  /** The first wait before the next attempt (ms). */
  readonly retryFirst: number;
  readonly count: DeskCount;
  readonly log: DeskLog;
}

/** Refused heartbeats in a row that make a store unavailable (a count), because another program can lock it for seconds. */
const MAX_REFUSED = 5;

/** The shortest interval between log lines about queries that failed for the same reason (ms). */
const FAILURE_LOG_INTERVAL = 1 * Minute;

export function createStoreHolder({ open, signals, retryFirst, count, log }: StoreHolderOptions) {
  let store: Store | undefined;
  let since: number | undefined;
  let wait = retryFirst;
  let timer: NodeJS.Timeout | undefined;
  /** Since when failures wait, as logged (ISO 8601). */
  let waitingSince: string | undefined;
  /** The heartbeats in a row that a store refused that answers (a count). */
  let refused = 0;
  let isClosed = false;
  let firstTry: Promise<void> | undefined;
  let onOpen: (() => void) | undefined;
  const noteFailure = createQueryFailures(count, log, () => waitingSince);

  async function connect(): Promise<void> {
    let refusal: QueryFailedError | undefined;
    try {
      if (store) refusal = await checkAnswers(store);
      else store = await open();
    } catch (error) {
      noteAway(error);
      return;
    }
    if (isClosed) await store.close();
    else noteBack(refusal);
  }

  /**
   * Checks the database. A refused statement also shows that it is available, but `busy` does not: if the database hangs,
   * earlier queries hold all connections.
   *
   * @returns the error if it takes no writes
   * @throws StoreError if it is not known to be available
   */
  async function checkAnswers(opened: Store): Promise<QueryFailedError | undefined> {
    try {
      await opened.check();
      return undefined;
    } catch (error) {
      if (!(error instanceof QueryFailedError) || error.reason === 'busy') throw error;
      noteFailure(error);
      return error;
    }
  }

  function noteBack(refusal?: QueryFailedError): void {
    if (since !== undefined) return;
    since = performance.now();
    wait = retryFirst;
    if (refusal) refused = MAX_REFUSED;
    noteHeartbeat(refusal);
    onOpen?.();
  }

  /** A database that is read-only, full or out of connections still answers. Its pages work, but failures wait. */
  function noteHeartbeat(refusal?: QueryFailedError): void {
    if (since === undefined) return;
    refused = refusal ? refused + 1 : 0;
    if (refused > 0 && refused < MAX_REFUSED) return;
    signals.storeState = refusal ? 'away' : 'reachable';
    if (refusal && !waitingSince)
      log.error({ err: refusal }, "The desk's store takes no writes. Failures wait in the journal.");
    if (!refusal && waitingSince)
      log.info({ waitingSince }, "The desk's store is back. Failures that waited in the journal are being stored.");
    waitingSince = refusal && (waitingSince ?? new Date().toISOString());
  }

  function noteAway(error: unknown): void {
    since = undefined;
    if (isClosed) return;
    signals.storeState = 'away';
    if (!waitingSince) {
      log.error({ err: error }, "The desk's store cannot be used. Pages still work, and failures wait in the journal.");
      waitingSince = new Date().toISOString();
    }
    if (error instanceof StoreAwayError && error.isGone) void dropStore();
    timer = setTimeout(connect, wait);
    wait = Math.min(wait * 2, RETRY_LONGEST);
  }

  async function dropStore(): Promise<void> {
    const gone = store;
    store = undefined;
    await gone?.close().catch(() => undefined);
  }

  return {
    /**
     * Opens the store now, or as soon as possible.
     *
     * @param onReachable called each time the store becomes available, including the first time
     */
    start(onReachable?: () => void) {
      signals.storeState = 'opening';
      onOpen = onReachable;
      firstTry = connect();
    },
    /** Since when the store has been available (ms, monotonic). Undefined while it is not. */
    get reachableSince() {
      return since;
    },
    /** Records whether the last heartbeat was stored. @param refusal why not */
    noteHeartbeat,
    /**
     * Works with the store, after the first attempt to open it.
     *
     * @throws StoreAwayError if the store cannot be used at the moment
     * @throws QueryFailedError if only this query failed, which is logged here
     */
    async use<T>(work: (store: Store) => Promise<T>): Promise<T> {
      await firstTry;
      const began = since;
      if (!store || began === undefined) throw new StoreAwayError("The desk's store cannot be used at the moment.");
      try {
        return await work(store);
      } catch (error) {
        // An error of work that began earlier says nothing about the present connection.
        if (error instanceof StoreAwayError && since === began) noteAway(error);
        if (error instanceof QueryFailedError) noteFailure(error);
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

/** Returns a function that counts a failed query, and logs it unless one failed for the same reason a moment ago. */
function createQueryFailures(
  count: DeskCount,
  log: DeskLog,
  readWaitingSince: () => string | undefined,
): (error: QueryFailedError) => void {
  const loggedAt = new Map<string, number>();
  return function noteFailure({ reason, message }) {
    count('spillway_desk_query_failures_total', { reason });
    const now = performance.now();
    if (now - (loggedAt.get(reason) ?? Number.NEGATIVE_INFINITY) < FAILURE_LOG_INTERVAL) return;
    loggedAt.set(reason, now);
    log.warn({ reason, error: message, waitingSince: readWaitingSince() }, 'A query of the desk failed.');
  };
}
