import { join } from 'node:path';
import { toOccurrence } from '../../../shared/engine/reporting/address.ts';
import type { StackFrame } from '../../engine/errors/failure.ts';
import { parseAddress } from '../../engine/errors/parse-address.ts';
import type { Count } from '../../engine/monitoring/count.ts';
import { createAddressFinder } from '../../engine/outgoing/find-address.ts';
import type { DeskLog } from '../desk-log.ts';
import {
  BEAT_INTERVAL,
  CHANGE_PATIENCE,
  CLOSE_PATIENCE,
  LOOKUP_PATIENCE,
  PULSE_INTERVAL,
  RETENTION_INTERVAL,
  RETRY_FIRST,
  RETRY_LONGEST,
  SETTLE_PATIENCE,
  SIZE_CHECK_INTERVAL,
} from '../limits.ts';
import { startHeartbeat } from '../notifications/heartbeat.ts';
import type { MessageFacts } from '../notifications/message.ts';
import { createNotifier } from '../notifications/notifier.ts';
import { createSendRequest } from '../notifications/send-request.ts';
import type { NotifySettings } from '../notifications/settings.ts';
import { createTargets } from '../notifications/targets.ts';
import type { DeskRetention } from '../settings.ts';
import { toCallKey } from '../store/incident-key.ts';
import type { Resolved } from '../store/incidents/look-up.ts';
import { openDriver } from '../store/open-driver.ts';
import type { Found } from '../store/records.ts';
import type { RetentionReport } from '../store/retention/retention.ts';
import type { LateHeartbeat } from '../store/servers/process-table.ts';
import { QueryFailedError, StoreAwayError, StoreError } from '../store/sql.ts';
import { type BoundQueries, deskQueries, openStore, type Store } from '../store/store.ts';
import { claimDeadJournals, type DeadJournal } from './adopt.ts';
import { createDeadLetters } from './dead-letters.ts';
import { createBuildFiles } from './maps/build-files.ts';
import type { Digester } from './maps/digester.ts';
import { createMapReader } from './maps/map-reader.ts';
import { DEVELOPMENT, publishBuild } from './maps/publish-build.ts';
import { createPrepare } from './prepare.ts';
import type { BlockedLoop, Heartbeat } from './processes/heartbeat.ts';
import { readHeartbeatFile } from './processes/heartbeat-file.ts';
import { createProcessRecords } from './processes/process-records.ts';
import { createWatchdog } from './processes/watchdog.ts';
import { createRetention } from './retention.ts';
import { createSignals } from './signals.ts';
import { createStoreHolder } from './store-holder.ts';
import { createWriter } from './writer.ts';

/** The settings of the worker. */
export interface WorkerStart {
  readonly signals: SharedArrayBuffer;
  /** Names this process and its journal. */
  readonly run: string;
  readonly startedAt: number;
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  readonly build: string;
  readonly release: string;
  readonly environment: string;
  readonly namespace: string;
  readonly retention: DeskRetention;
  /** The folder of the build. */
  readonly dist: string;
  /** The notification settings. Undefined for no notifications. */
  readonly notify?: NotifySettings | undefined;
  /** The first wait before a store that is unavailable or refuses an entry is tried again (ms). */
  readonly retryFirst?: number | undefined;
}

/** The work of the worker thread, without the thread. */
export type DeskWorker = ReturnType<typeof createDeskWorker>;

interface DeskWorkerOptions {
  readonly start: WorkerStart;
  readonly digester: Digester;
  readonly count: Count;
  readonly log: DeskLog;
  readonly readStack: () => Promise<readonly StackFrame[]>;
  readonly onBlocked: (report: BlockedLoop) => void;
  readonly onRetained: (report: RetentionReport) => void;
}

export function createDeskWorker(options: DeskWorkerOptions) {
  const { start, digester, count, log, readStack, onBlocked } = options;
  const { run, build, release, environment, dist, dataDir, databaseUrl, notify, retryFirst = RETRY_FIRST } = start;
  const retention = createRetention({ build, limits: start.retention, onRetained: options.onRetained, log });
  /** Whether other replicas can write to the store too. */
  const isShared = databaseUrl !== undefined;
  const journals = join(dataDir, 'journal');
  const folder = join(journals, run);
  const signals = createSignals(start.signals);
  signals.storeState = 'opening';
  const holder = createStoreHolder({
    open,
    retryFirst,
    count,
    log,
    onOpen() {
      signals.storeState = 'reachable';
      void settleIn();
    },
    onAway() {
      signals.storeState = 'away';
    },
  });
  const files = createBuildFiles({ build, dist, holder });
  const maps = createMapReader({
    readMap: files.readMap,
    readSource: files.readSource,
    findFunction: async (of, frame) => digester.findFunction(frame, await files.readLocations(of)),
  });
  const prepare = createPrepare({ maps, digester, readLocations: files.readLocations, log });
  const targets = notify ? createTargets({ settings: notify }) : [];
  const notifier = createNotifier({ targets, facts: toMessageFacts(notify), holder, log });
  const deadLetters = createDeadLetters({ dataDir, environment, count, log });
  const writer = createWriter({
    run,
    folder,
    signals,
    holder,
    prepare,
    deadLetters,
    onTaken: notifier.wake,
    retryFirst,
    count,
    log,
  });
  const watchdog = createWatchdog({ signals, readStack, onBlocked, onChange: () => processes.write() });
  const processes = createProcessRecords({
    run: { id: run, build, release, environment, startedAt: start.startedAt },
    folder,
    holder,
    blocked: () => watchdog.blocked,
    digester,
    prepare,
    log,
  });
  let dead: readonly DeadJournal[] | undefined;
  let isCatchingUp = false;
  /** Set again if the store becomes available again in the middle. */
  let isCatchUpDue = false;
  let catchUpTimer: NodeJS.Timeout | undefined;
  let isClosing = false;
  /** Tasks whose failure was logged. They are removed when they succeed. */
  const failing = new Set<string>();

  const timers = [
    setInterval(() => watchdog.look(), PULSE_INTERVAL),
    setInterval(() => processes.goOn(), BEAT_INTERVAL),
    setInterval(() => void lookAfter(), RETRY_LONGEST),
    setInterval(() => void retain(), RETENTION_INTERVAL),
    setInterval(() => void retainIfGrown(), SIZE_CHECK_INTERVAL),
  ];
  const endHeartbeat = beatAbroad();
  holder.start();

  async function open(): Promise<Store> {
    const [people, all] = [true, false].map((is) => targets.filter(({ person }) => (person !== undefined) === is));
    const news = { after: notify?.after ?? [{ count: 1 }], targets: all ?? [], people };
    return openStore(openDriver({ dataDir, databaseUrl, log }), { rule: digester.rule, environment, log, news });
  }

  /** Starts the heartbeat to an external monitor. @returns a function that ends it */
  function beatAbroad(): () => void {
    if (notify?.heartbeatUrl === undefined) return () => undefined;
    return startHeartbeat({
      url: notify.heartbeatUrl,
      sendRequest: createSendRequest({ addresses: createAddressFinder(notify.privateTargets) }),
      isHealthy: () => holder.reachableSince !== undefined && watchdog.blocked === undefined,
      log,
    });
  }

  /** Does everything that is due when the store is available again, and repeats it if a part failed. */
  async function settleIn(wait = retryFirst): Promise<void> {
    clearTimeout(catchUpTimer);
    isCatchUpDue = true;
    if (isCatchingUp) return;
    isCatchingUp = true;
    let isDone = true;
    while (isCatchUpDue) {
      isCatchUpDue = false;
      isDone = await catchUp();
    }
    isCatchingUp = false;
    // If the store is unavailable, `onOpen` starts this again.
    if (isDone || isClosing || holder.reachableSince === undefined) return;
    catchUpTimer = setTimeout(() => void settleIn(Math.min(2 * wait, RETRY_LONGEST)), wait);
  }

  /** @returns whether everything succeeded, except for the journal, which the writer itself tries again */
  async function catchUp(): Promise<boolean> {
    // Before the first failure of this release is stored, because the time of its first start orders releases.
    const isWritten = await quietly('The start of this build could not be recorded in the store.', useBuild);
    await quietly('The journal could not be stored.', () => writer.flush());
    processes.write();
    const isAdopted = await quietly('The journals of ended processes could not be stored.', adoptAll);
    const isTold = await quietly('Ended processes could not be reported.', () => processes.tellSilent());
    const isPublished = await quietly('The files of this build could not be stored.', () =>
      publishBuild(holder, { build, release, dist }),
    );
    const isDone = isWritten && isAdopted && isTold && isPublished;
    if (isDone) await retain();
    return isDone;
  }

  async function useBuild(): Promise<void> {
    if (build !== DEVELOPMENT) await holder.use((store) => store.useBuild({ id: build, release }));
  }

  async function adoptAll(): Promise<void> {
    dead ??= claimDeadJournals(journals, run, log);
    noteInherited();
    let failed: unknown;
    for (const journal of dead) {
      try {
        await adopt(journal);
      } catch (error) {
        if (!(error instanceof QueryFailedError)) throw error;
        failed = error;
      }
    }
    if (failed) throw failed;
  }

  /**
   * Stores the journal of a dead process. Reports the death first, because the heartbeat is deleted with the
   * journal. A second report has no effect.
   */
  async function adopt(journal: DeadJournal): Promise<void> {
    const beside = readHeartbeatFile(journal.folder);
    await processes.tellDead(journal.run, beside);
    await writer.adopt({ ...journal, environment: await readEnvironment(journal.run, beside) });
    dead = dead?.filter((other) => other !== journal);
    journal.release(true);
    noteInherited();
  }

  /** Returns the environment of a process, which can differ from this one's. */
  async function readEnvironment(of: string, beside: LateHeartbeat | undefined): Promise<string | undefined> {
    return beside?.environment ?? (await holder.use((store) => store.readEnvironment(of)));
  }

  function noteInherited(): void {
    signals.inherited = (dead ?? []).reduce((sum, { bytes }) => sum + bytes, 0);
  }

  async function lookAfter(): Promise<void> {
    maps.sweep();
    files.sweep();
    await quietly('The regular check of the store failed.', async () => {
      await holder.use((store) => store.check());
      await holder.use((store) => store.endIgnores());
      await processes.tellSilent();
    });
  }

  async function retain(): Promise<void> {
    await quietly('Old rows of the desk could not be deleted.', () => holder.use((store) => retention.run(store)));
  }

  async function retainIfGrown(): Promise<void> {
    await quietly('Old rows of the desk could not be deleted.', () =>
      holder.use((store) => retention.runIfGrown(store)),
    );
  }

  /**
   * Does some work, and logs an error only once until the work succeeds. Errors of the store are already logged.
   *
   * @returns whether it succeeded
   */
  async function quietly(sentence: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      failing.delete(sentence);
      return true;
    } catch (error) {
      if (!(error instanceof StoreError) && !failing.has(sentence)) {
        failing.add(sentence);
        log.error({ err: error }, sentence);
      }
      return false;
    }
  }

  /** Reads from the store. The result includes failures that happened before the call, if they are stored in time. */
  async function look<T>(read: (store: Store) => Promise<T>): Promise<T> {
    await writer.settle(SETTLE_PATIENCE);
    return holder.use(read);
  }

  /** Changes an incident, after its failures in the journal are stored, if that does not take long. */
  async function apply<T>(work: (store: Store) => Promise<T>): Promise<T> {
    await writer.settle(CHANGE_PATIENCE, { evenIfBehind: true });
    return holder.use(work);
  }

  /**
   * Reads repeatedly until something arrives. It reads again when a part of this process's journal is stored, and
   * regularly for the journals of other replicas.
   *
   * @param isThere whether the result is complete, so that the wait ends
   */
  async function seek<T>(
    read: (store: Store) => Promise<T>,
    isThere: (found: T, wasArriving: boolean) => boolean,
  ): Promise<T> {
    const end = performance.now() + LOOKUP_PATIENCE;
    for (;;) {
      // Read first, so that the next round finds anything that arrives in between.
      const wasArriving = isArriving();
      const found = await look(read);
      if (isThere(found, wasArriving)) return found;
      const isOver = performance.now() > end;
      const mayChange = isOver ? wasArriving && !isArriving() : wasArriving || isShared;
      if (!mayChange) return found;
      if (!isOver) await Promise.race([writer.moved(), sleep(RETRY_FIRST)]);
    }
  }

  function isArriving(): boolean {
    return signals.arriving > 0;
  }

  /**
   * Finds the incident of an address.
   *
   * @param text an address, `7K3QM2XA` or `7K3QM2XA-9F4W0R6B`, in any spelling
   * @param where the environment. All environments by default, first that of this server
   * @throws QueryFailedError if the address is unknown, and may still arrive
   */
  async function find(text: string, where?: string): Promise<Found | undefined> {
    const address = parseAddress(text);
    if (!address) return undefined;
    const found = await seek(
      (store) => store.find(address, where),
      (found, wasArriving) => found !== undefined && !isMissing(found, wasArriving),
    );
    if (!isArriving()) return found;
    if (!found) throw new QueryFailedError('arriving', ARRIVING);
    return isMissing(found, true) ? { ...found, state: 'arriving' } : found;
  }

  /** An occurrence that was only counted looks like one that is not stored yet. */
  function isMissing({ state }: Found, mayArrive: boolean): boolean {
    return state === 'unknown' || (state === 'thinned' && mayArrive);
  }

  /**
   * Finds the incident that a text names: a digest, an address, a request id or a trace id. It waits only for an
   * address. Other text becomes a search if nothing is found.
   */
  async function resolveQuery(text: string): Promise<Resolved | undefined> {
    const resolve = (store: Store) => store.resolveQuery(text);
    const isAddress = parseAddress(text.trim())?.occurrence !== undefined;
    return isAddress ? seek(resolve, (found) => found !== undefined) : look(resolve);
  }

  /**
   * Reads for callers that strangers can trigger, so it repeats rarely: regularly while this process's journal is not
   * stored, and once more for the journals of other replicas.
   */
  async function untilKnown<T>(read: (store: Store) => Promise<T | undefined>): Promise<T | undefined> {
    const end = performance.now() + LOOKUP_PATIENCE;
    const known = await look(read);
    if (known !== undefined) return known;
    while (isArriving() && performance.now() < end) {
      await sleep(RETRY_FIRST);
      const arrived = await holder.use(read);
      if (arrived !== undefined) return arrived;
    }
    if (!isShared) return undefined;
    await sleep(RETRY_FIRST);
    return holder.use(read);
  }

  async function close(): Promise<void> {
    isClosing = true;
    for (const timer of timers) clearInterval(timer);
    clearTimeout(catchUpTimer);
    endHeartbeat();
    writer.stop();
    await Promise.all([
      quietly('The journal could not be stored before the end.', () => within(CLOSE_PATIENCE, endRun())),
      // A notification whose result is not recorded is sent again.
      quietly('A notification was interrupted.', () => within(CLOSE_PATIENCE, notifier.stop())),
    ]);
    for (const journal of dead ?? []) journal.release(false);
    await within(CLOSE_PATIENCE, holder.close()).catch(() => undefined);
  }

  async function endRun(): Promise<void> {
    await processes.end();
    await writer.adopt({ run, folder, environment });
  }

  return {
    /** Called when the main thread has appended to its journal. */
    wake: () => writer.wake(),
    beat: (beat: Heartbeat) => processes.note(beat),
    /**
     * The handlers of the main thread's calls. A result includes everything that this process journaled before the
     * call, unless storing it takes too long.
     */
    handlers: {
      find,
      /** Whether a digest has an incident in this server's environment. Does not wait for the journal. */
      isKnown: (digest: string) => holder.use((store) => store.isKnown(toCallKey(digest, environment))),
      /** Finds the failure of an event of the last day in this server's environment. @param id 32 hexadecimal digits */
      findEvent: (id: string) => untilKnown((store) => store.findEvent(toOccurrence(id))),
      /** Whether an address is of a server's failure in the last hour that still needs an echo. */
      isEchoAwaited: async (address: string) => (await untilKnown((store) => store.readAwaited(address))) === true,
      resolveQuery,
      ...passOn(deskQueries.journaled, look),
      ...passOn(deskQueries.settled, apply),
      ...passOn(deskQueries.nothing, holder.use),
      /** Sends a test notification to each target. */
      sendTestNotifications: () => notifier.sendTest(),
      /** Waits briefly until everything in the journal is stored. */
      settle: () => writer.settle(SETTLE_PATIENCE),
      /** Waits until everything in the journal is stored. */
      flush: () => writer.flush(),
      /** Called when the process ends on purpose. */
      close,
    },
  };
}

/** Creates a handler for each query. @param use waits as needed, then calls the query on the store */
function passOn<Queries extends object>(
  queries: Queries,
  use: (ask: (store: Store) => Promise<unknown>) => Promise<unknown>,
): BoundQueries<Queries> {
  const handlers = Object.keys(queries).map((name) => {
    // The caller's arguments were checked against the query of this name.
    const ask = (store: Store, args: readonly unknown[]) =>
      (store[name as keyof Store] as (...args: readonly unknown[]) => Promise<unknown>)(...args);
    return [name, (...args: readonly unknown[]) => use((store) => ask(store, args))];
  });
  return Object.fromEntries(handlers) as BoundQueries<Queries>;
}

const ARRIVING = 'It may be among the failures that are not in the store yet.';

function toMessageFacts(notify: NotifySettings | undefined): Omit<MessageFacts, 'hasOthers'> {
  return { environment: notify?.environment ?? '', deskOrigin: notify?.deskOrigin };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new StoreAwayError('The store did not answer in time.')), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
