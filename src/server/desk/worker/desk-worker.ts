import { join } from 'node:path';
import { toOccurrence } from '../../../shared/engine/reporting/address.ts';
import type { DeskRetention } from '../../config.ts';
import type { StackFrame } from '../../engine/errors/failure.ts';
import type { Count } from '../../engine/monitoring/count.ts';
import { parseAddress } from '../address.ts';
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
import { createAddressFinder } from '../notifications/find-address.ts';
import { startHeartbeat } from '../notifications/heartbeat.ts';
import type { MessageFacts } from '../notifications/message.ts';
import { createNotifier } from '../notifications/notifier.ts';
import { createSendRequest } from '../notifications/send-request.ts';
import type { NotifySettings } from '../notifications/settings.ts';
import { createTargets } from '../notifications/targets.ts';
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

/** The start data of the worker. */
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
  /** The notification settings; undefined to notify nobody. */
  readonly notify?: NotifySettings | undefined;
  /** The first wait before a store that is away, or that refuses something, is tried again (ms). */
  readonly retryFirst?: number | undefined;
}

/** Everything that the worker thread does, without the thread. */
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
  /** Other replicas write to the store too. */
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
    findFunction: async (of, frame) => digester.findFunction(frame, await files.readSites(of)),
  });
  const prepare = createPrepare({ maps, digester, readSites: files.readSites, log });
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
  /** The store may have gone and come back in the middle. */
  let isCatchUpDue = false;
  let catchUpTimer: NodeJS.Timeout | undefined;
  let isClosing = false;
  /** Work that failed and was logged, until it succeeds. */
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
    const news = { after: notify?.after ?? 1, targets: targets.map(({ id, name }) => ({ id, name })) };
    return openStore(openDriver({ dataDir, databaseUrl, log }), { rule: digester.rule, environment, log, news });
  }

  /** @returns what ends it */
  function beatAbroad(): () => void {
    if (notify?.heartbeatUrl === undefined) return () => undefined;
    return startHeartbeat({
      url: notify.heartbeatUrl,
      sendRequest: createSendRequest({ addresses: createAddressFinder(notify.privateTargets) }),
      isHealthy: () => holder.reachableSince !== undefined && watchdog.blocked === undefined,
      log,
    });
  }

  /** Does everything that is due when the store can be used again, and repeats it if a part of it failed. */
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
    // A store that is away calls for all of it when it is back.
    if (isDone || isClosing || holder.reachableSince === undefined) return;
    catchUpTimer = setTimeout(() => void settleIn(Math.min(2 * wait, RETRY_LONGEST)), wait);
  }

  /** @returns whether all of it was done; the journal is tried again by the writer itself */
  async function catchUp(): Promise<boolean> {
    // Before the first failure of this release: whether it is a later one than another is told by when it was first here.
    const isWritten = await quietly('This build was not written down.', useBuild);
    await quietly('The journal was not taken in.', () => writer.flush());
    processes.write();
    const isAdopted = await quietly('The journals of ended processes were not taken in.', adoptAll);
    const isTold = await quietly('Ended processes were not reported.', () => processes.tellSilent());
    const isPublished = await quietly('The files of this build were not published.', () =>
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

  /** Reports the death first: reporting it again changes nothing, and the heartbeat goes with the journal. */
  async function adopt(journal: DeadJournal): Promise<void> {
    const beside = readHeartbeatFile(journal.folder);
    await processes.tellDead(journal.run, beside);
    await writer.adopt({ ...journal, environment: await readEnvironment(journal.run, beside) });
    dead = dead?.filter((other) => other !== journal);
    journal.release(true);
    noteInherited();
  }

  /** Where a process ran may have been set to another value since. */
  async function readEnvironment(of: string, beside: LateHeartbeat | undefined): Promise<string | undefined> {
    return beside?.environment ?? (await holder.use((store) => store.readEnvironment(of)));
  }

  function noteInherited(): void {
    signals.inherited = (dead ?? []).reduce((sum, { bytes }) => sum + bytes, 0);
  }

  async function lookAfter(): Promise<void> {
    maps.sweep();
    files.sweep();
    await quietly('The store could not be looked at.', async () => {
      await holder.use((store) => store.check());
      await holder.use((store) => store.endIgnores());
      await processes.tellSilent();
    });
  }

  async function retain(): Promise<void> {
    await quietly('Old rows of the desk were not deleted.', () => holder.use((store) => retention.run(store)));
  }

  async function retainIfGrown(): Promise<void> {
    await quietly('Old rows of the desk were not deleted.', () => holder.use((store) => retention.runIfGrown(store)));
  }

  /** Errors of the store were logged already, and others are logged once until it works. @returns whether it worked */
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

  /** An answer includes what happened before the question, as far as that is stored soon enough. */
  async function look<T>(read: (store: Store) => Promise<T>): Promise<T> {
    await writer.settle(SETTLE_PATIENCE);
    return holder.use(read);
  }

  /** Failures that are on their way to an incident are stored before it is changed, if that does not take long. */
  async function apply<T>(work: (store: Store) => Promise<T>): Promise<T> {
    await writer.settle(CHANGE_PATIENCE, { evenIfBehind: true });
    return holder.use(work);
  }

  /**
   * Looks again for something that may still arrive: from this process's journal as soon as some of it is
   * stored, and from the journals of other replicas from time to time.
   *
   * @param isThere whether this is what was looked for, and need not be waited for
   */
  async function seek<T>(
    read: (store: Store) => Promise<T>,
    isThere: (found: T, wasArriving: boolean) => boolean,
  ): Promise<T> {
    const end = performance.now() + LOOKUP_PATIENCE;
    for (;;) {
      // Before it is read: what arrives in between is found by the next look.
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
   * @param text an address, `7K3QM2XA` or `7K3QM2XA-9F4W0R6B`, in any spelling
   * @param where the environment to look in; by default everywhere, first in that of this server
   * @throws QueryFailedError if nothing is known of it, and it may still arrive
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
   * Finds the incident that a text names: a digest, an address, the id of a request or of a trace. It waits
   * only for an address. Any other text becomes a search if it names nothing.
   */
  async function resolveQuery(text: string): Promise<Resolved | undefined> {
    const resolve = (store: Store) => store.resolveQuery(text);
    const isAddress = parseAddress(text.trim())?.occurrence !== undefined;
    return isAddress ? seek(resolve, (found) => found !== undefined) : look(resolve);
  }

  /** For what strangers ask: looks again once for what other replicas have journaled, and seldom for this process's. */
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
      quietly('The journal was not taken in at the end.', () => within(CLOSE_PATIENCE, endRun())),
      // A message whose end nobody writes down is sent again.
      quietly('A message was cut off.', () => within(CLOSE_PATIENCE, notifier.stop())),
    ]);
    for (const journal of dead ?? []) journal.release(false);
    await within(CLOSE_PATIENCE, holder.close()).catch(() => undefined);
  }

  async function endRun(): Promise<void> {
    await processes.end();
    await writer.adopt({ run, folder, environment });
  }

  return {
    /** The main thread has something in its journal. */
    wake: () => writer.wake(),
    beat: (beat: Heartbeat) => processes.note(beat),
    /**
     * The calls of the main thread. An answer includes everything that this process journaled before the call,
     * unless there is so much of it that the answer would be late.
     */
    handlers: {
      find,
      /** Whether a digest has an incident already in the environment of this server, without waiting for what is on its way. */
      isKnown: (digest: string) => holder.use((store) => store.isKnown(toCallKey(digest, environment))),
      /** The failure of an event of the last day, in the environment of this server. @param id 32 hexadecimal digits */
      findEvent: (id: string) => untilKnown((store) => store.findEvent(toOccurrence(id))),
      /** Whether an address is that of a server's failure of the last hour, which no browser has reported to have seen too. */
      isEchoAwaited: async (address: string) => (await untilKnown((store) => store.readAwaited(address))) === true,
      resolveQuery,
      ...passOn(deskQueries.journaled, look),
      ...passOn(deskQueries.settled, apply),
      ...passOn(deskQueries.nothing, holder.use),
      /** Sends a test notification to each target. */
      sendTestNotices: () => notifier.sendTest(),
      /** Waits for a short time until everything that was appended before is in the store. */
      settle: () => writer.settle(SETTLE_PATIENCE),
      /** Waits until all of it is in the store. */
      flush: () => writer.flush(),
      /** The process ends on purpose. */
      close,
    },
  };
}

/** @param use waits as needed, then calls the query on the store */
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
