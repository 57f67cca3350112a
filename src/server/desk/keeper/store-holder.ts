import type { DeskLog } from '../desk-log.ts';
import { RETRY_FIRST, RETRY_LONGEST } from '../limits.ts';
import { StoreAwayError } from '../store/sql.ts';
import type { Store } from '../store/store.ts';

/** The store, which may come late, go away and come back. */
export interface StoreHolder {
  /** Opens it, now or as soon as it can be. */
  start(): void;
  /** Waits for the first opening. @throws StoreAwayError where it cannot be used at the moment */
  use<T>(work: (store: Store) => Promise<T>): Promise<T>;
  /** Since when it could be used without a break (ms, monotonic); undefined where it cannot. */
  readonly reachableSince: number | undefined;
  close(): Promise<void>;
}

export interface StoreHolderOptions {
  readonly open: () => Promise<Store>;
  readonly log: DeskLog;
  /** Told each time when it can be used again, the first time too. */
  readonly onOpen: () => void;
  /** Told each time when it cannot be. */
  readonly onAway?: () => void;
}

export function createStoreHolder({ open, log, onOpen, onAway }: StoreHolderOptions): StoreHolder {
  let store: Store | undefined;
  let since: number | undefined;
  let wait = RETRY_FIRST;
  let timer: NodeJS.Timeout | undefined;
  let isTold = false;
  let isClosed = false;
  let firstTry: Promise<void> | undefined;

  async function connect(): Promise<void> {
    timer = undefined;
    try {
      if (store) await store.check();
      else store = await open();
    } catch (error) {
      noteAway(error);
      return;
    }
    if (isClosed) await store.close();
    else noteBack();
  }

  function noteBack(): void {
    if (since !== undefined) return;
    since = performance.now();
    wait = RETRY_FIRST;
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
    start() {
      firstTry ??= connect();
    },
    get reachableSince() {
      return since;
    },
    async use(work) {
      await firstTry;
      if (!store || since === undefined) throw new StoreAwayError("The desk's store cannot be used at the moment.");
      try {
        return await work(store);
      } catch (error) {
        if (error instanceof StoreAwayError) noteAway(error);
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
