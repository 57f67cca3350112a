import { join } from 'node:path';
import { toOccurrence } from '../../../shared/engine/address.ts';
import type { StackFrame } from '../../engine/errors/failure.ts';
import { parseAddress } from '../address.ts';
import type { Beat, BlockedLoop } from '../beat.ts';
import type { DeskLog } from '../desk-log.ts';
import {
  BEAT_INTERVAL,
  CLOSE_PATIENCE,
  LOOKUP_PATIENCE,
  PULSE_INTERVAL,
  RETENTION_INTERVAL,
  RETRY_FIRST,
  RETRY_LONGEST,
  SIZE_CHECK_INTERVAL,
} from '../limits.ts';
import { createAddressFinder } from '../notify/find-address.ts';
import { startHeartbeat } from '../notify/heartbeat.ts';
import type { MessageFacts } from '../notify/message.ts';
import { createNotifier } from '../notify/notifier.ts';
import { createSendRequest } from '../notify/send-request.ts';
import type { NotifySettings } from '../notify/settings.ts';
import { createTargets } from '../notify/targets.ts';
import { toCallKey } from '../store/incident-key.ts';
import { openDriver } from '../store/open-driver.ts';
import type { Found } from '../store/records.ts';
import type { RetentionReport } from '../store/retention.ts';
import type { LateBeat } from '../store/run-table.ts';
import { StoreAwayError } from '../store/sql.ts';
import { openStore, type Store } from '../store/store.ts';
import { claimDeadJournals, type DeadJournal } from './adopt.ts';
import { type IsOurs, isScriptOfOurs } from './attribute-growth.ts';
import { readBeatFile } from './beat-file.ts';
import { createBuildFiles } from './build-files.ts';
import type { KeeperHandlers, KeeperStart } from './calls.ts';
import type { Digester } from './digester.ts';
import { createHeapWatch, type HeapSampler } from './heap-watch.ts';
import { createMapReader } from './map-reader.ts';
import { createPrepare } from './prepare.ts';
import { DEVELOPMENT, publishBuild } from './publish-build.ts';
import { createRetention } from './retention.ts';
import { createRuns } from './runs.ts';
import { createSignals } from './signals.ts';
import { createStoreHolder } from './store-holder.ts';
import { createWatchdog } from './watchdog.ts';
import { createWriter } from './writer.ts';

/** Everything that the worker thread does, without the thread. */
export interface Keeper {
  readonly handlers: KeeperHandlers;
  /** The main thread has something in its journal. */
  wake(): void;
  beat(beat: Beat): void;
}

export interface KeeperOptions {
  readonly start: KeeperStart;
  readonly digester: Digester;
  readonly log: DeskLog;
  readonly readStack: () => Promise<readonly StackFrame[]>;
  readonly onBlocked: (report: BlockedLoop) => void;
  readonly onRetained: (report: RetentionReport) => void;
  /** Samples the heap of the main thread. @param isOurs tells what of a stack is not a dependency's */
  readonly startSampler: (isOurs: () => Promise<IsOurs>) => HeapSampler;
}

export function createKeeper(options: KeeperOptions): Keeper {
  const { start, digester, log, readStack, onBlocked, startSampler } = options;
  const { run, build, release, environment, dist, dataDir, databaseUrl, notify } = start;
  const retention = createRetention({ build, limits: start.retention, onRetained: options.onRetained, log });
  const journals = join(dataDir, 'journal');
  const folder = join(journals, run);
  const signals = createSignals(start.signals);
  signals.storeState = 'opening';
  const holder = createStoreHolder({
    open,
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
  const writer = createWriter({ run, folder, signals, holder, prepare, onTaken: notifier.wake, log });
  const watchdog = createWatchdog({ signals, readStack, onBlocked, onChange: () => runs.write() });
  const heapWatch = createHeapWatch({ startSampler: () => startSampler(readOurs), onChange: () => runs.noteGrowth() });
  const runs = createRuns({
    run: { id: run, build, release, environment, startedAt: start.startedAt },
    folder,
    holder,
    blocked: () => watchdog.blocked,
    grown: () => heapWatch.grown,
    digester,
    prepare,
    log,
  });
  let dead: readonly DeadJournal[] | undefined;
  let isCatchingUp = false;
  /** The store may have gone and come back in the middle. */
  let isCatchUpDue = false;

  const timers = [
    setInterval(() => watchdog.look(), PULSE_INTERVAL),
    setInterval(() => runs.goOn(), BEAT_INTERVAL),
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

  async function readOurs(): Promise<IsOurs> {
    const sites = await files.readSites(build);
    return (frame) => isScriptOfOurs(frame.file) && digester.findHome(frame, sites) !== 'dependency';
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

  /** What is to be done whenever the store can be used again. */
  async function settleIn(): Promise<void> {
    isCatchUpDue = true;
    if (isCatchingUp) return;
    isCatchingUp = true;
    while (isCatchUpDue) {
      isCatchUpDue = false;
      await catchUp();
    }
    isCatchingUp = false;
  }

  async function catchUp(): Promise<void> {
    // Before the first failure of this release: whether it is a later one than another is told by when it was first here.
    await quietly('This build was not written down.', useBuild);
    await quietly('The journal was not taken in.', () => writer.flush());
    runs.write();
    await quietly('The journals of ended processes were not taken in.', adoptAll);
    await quietly('Ended processes were not told of.', () => runs.tellSilent());
    await quietly('The files of this build were not published.', () => publishBuild(holder, { build, release, dist }));
    await retain();
  }

  async function useBuild(): Promise<void> {
    if (build !== DEVELOPMENT) await holder.use((store) => store.useBuild({ id: build, release }));
  }

  async function adoptAll(): Promise<void> {
    dead ??= claimDeadJournals(journals, run, log);
    noteInherited();
    for (const journal of dead) {
      const beside = readBeatFile(journal.folder);
      await writer.adopt({ ...journal, environment: await readEnvironment(journal.run, beside) });
      dead = dead.filter((other) => other !== journal);
      journal.release(true);
      noteInherited();
      await runs.tellDead(journal.run, beside);
    }
  }

  /** Where a process ran may have been set to another value since. */
  async function readEnvironment(of: string, beside: LateBeat | undefined): Promise<string | undefined> {
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
      await runs.tellSilent();
    });
  }

  function retain(): Promise<void> {
    return quietly('Old rows of the desk were not deleted.', () => holder.use((store) => retention.run(store)));
  }

  function retainIfGrown(): Promise<void> {
    return quietly('Old rows of the desk were not deleted.', () => holder.use((store) => retention.runIfGrown(store)));
  }

  /** A store that is away has been told of already. */
  async function quietly(sentence: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof StoreAwayError)) log.error({ err: error }, sentence);
    }
  }

  /** Whoever asks wants to know of what happened before the question. */
  async function afterFlush<T>(read: (store: Store) => Promise<T>): Promise<T> {
    await writer.flush();
    return holder.use(read);
  }

  /** What another replica has journaled may be on its way. */
  async function find(text: string, where?: string): Promise<Found | undefined> {
    const address = parseAddress(text);
    if (!address) return undefined;
    const end = performance.now() + LOOKUP_PATIENCE;
    for (;;) {
      const found = await afterFlush((store) => store.find(address, where));
      if (found && found.state !== 'unknown') return found;
      const isShared = await holder.use(async (store) => store.isShared);
      if (!isShared || performance.now() > end) return found;
      await sleep(RETRY_FIRST);
    }
  }

  /** What another replica has journaled takes a moment: strangers make the store wait no longer than that. */
  async function untilKnown<T>(read: (store: Store) => Promise<T | undefined>): Promise<T | undefined> {
    const known = await afterFlush(read);
    if (known !== undefined || !(await holder.use(async (store) => store.isShared))) return known;
    await sleep(RETRY_FIRST);
    return holder.use(read);
  }

  async function close(): Promise<void> {
    for (const timer of timers) clearInterval(timer);
    endHeartbeat();
    heapWatch.end();
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
    await runs.end();
    await writer.adopt({ run, folder, environment });
  }

  return {
    wake: () => writer.wake(),
    beat(beat) {
      if (beat.heap) heapWatch.note(beat.heap);
      runs.note(beat);
    },
    handlers: {
      find,
      isKnown: (digest) => holder.use((store) => store.isKnown(toCallKey(digest, environment))),
      findEvent: (id) => untilKnown((store) => store.findEvent(toOccurrence(id))),
      isEchoAwaited: async (address) => (await untilKnown((store) => store.readAwaited(address))) === true,
      resolveQuery: (text) => afterFlush((store) => store.resolveQuery(text)),
      listIncidents: (query) => afterFlush((store) => store.listIncidents(query)),
      countStates: (filter) => afterFlush((store) => store.countStates(filter)),
      listOccurrences: (key, query) => afterFlush((store) => store.listOccurrences(key, query)),
      listHours: (key) => afterFlush((store) => store.listHours(key)),
      listReleases: (key) => afterFlush((store) => store.listReleases(key)),
      findNeighbours: (key, occurrence) => afterFlush((store) => store.findNeighbours(key, occurrence)),
      listEnvironments: () => afterFlush((store) => store.listEnvironments()),
      listKnownIn: (digest) => afterFlush((store) => store.listKnownIn(digest)),
      listSimilar: (key, limit) => afterFlush((store) => store.listSimilar(key, limit)),
      listFeedback: (key, limit) => afterFlush((store) => store.listFeedback(key, limit)),
      listChanges: (key, limit) => afterFlush((store) => store.listChanges(key, limit)),
      listNotes: (key, limit) => holder.use((store) => store.listNotes(key, limit)),
      readChanges: () => holder.use((store) => store.readChanges()),
      // A change is about what was shown, so what is on its way comes first.
      changeIncident: (key, change, by) => afterFlush((store) => store.changeIncident(key, change, by)),
      mergeIncidents: (key, into, by) => afterFlush((store) => store.mergeIncidents(key, into, by)),
      takeApart: (key, by) => afterFlush((store) => store.takeApart(key, by)),
      addNote: (key, text, author) => afterFlush((store) => store.addNote(key, text, author)),
      deleteNote: (id, author) => holder.use((store) => store.deleteNote(id, author)),
      deleteFeedback: (key, id, author) => afterFlush((store) => store.deleteFeedback(key, id, author)),
      deleteIncident: (key, by) => afterFlush((store) => store.deleteIncident(key, by)),
      readDeletion: (digest, where) => holder.use((store) => store.readDeletion(digest, where)),
      deleteOccurrence: (key, name, author) => afterFlush((store) => store.deleteOccurrence(key, name, author)),
      createSession: (idHash, grant, lifeMs) => holder.use((store) => store.createSession(idHash, grant, lifeMs)),
      readSession: (idHash) => holder.use((store) => store.readSession(idHash)),
      endSession: (idHash) => holder.use((store) => store.endSession(idHash)),
      keepSessions: (fingerprints) => holder.use((store) => store.keepSessions(fingerprints)),
      createLink: (idHash, grant) => holder.use((store) => store.createLink(idHash, grant)),
      takeLink: (idHash) => holder.use((store) => store.takeLink(idHash)),
      countAttempts: (bySender, inTotal) => holder.use((store) => store.countAttempts(bySender, inTotal)),
      listNotices: (limit) => holder.use((store) => store.listNotices(limit)),
      sendTestNotices: () => notifier.sendTest(),
      listRuns: (limit) => holder.use((store) => store.listRuns(limit)),
      readBuildFile: (of, path) => holder.use((store) => store.readBuildFile(of, path)),
      readAsset: (path) => holder.use((store) => store.readAsset(path)),
      listBuilds: () => holder.use((store) => store.listBuilds()),
      listDeployments: (of) => holder.use((store) => store.listDeployments(of)),
      readSalts: (offers) => holder.use((store) => store.readSalts(offers)),
      flush: () => writer.flush(),
      close,
    },
  };
}

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
