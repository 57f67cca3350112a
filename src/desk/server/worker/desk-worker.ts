import { join } from 'node:path';
import type { Count } from '../../../server/request/counters.ts';
import type { DeskLog } from '../desk-log.ts';
import {
  BEAT_INTERVAL,
  CLOSE_PATIENCE,
  PULSE_INTERVAL,
  RETENTION_INTERVAL,
  RETRY_FIRST,
  RETRY_LONGEST,
  SETTLE_PATIENCE,
} from '../limits.ts';
import { createNotifier } from '../notifications/notifier.ts';
import type { NotifySettings } from '../notifications/settings.ts';
import { createTargets } from '../notifications/targets.ts';
import type { DeskRetention } from '../read-settings.ts';
import type { RetentionReport } from '../store/retention.ts';
import { openDriver, openStore, type Store } from '../store/store.ts';
import { withinTime } from '../within-time.ts';
import { CHANGES, type DeskCalls, DIRECT, READS } from './desk-calls.ts';
import { createLookups } from './lookups.ts';
import { createBuildFiles } from './maps/build-files.ts';
import { createMapReader } from './maps/map-reader.ts';
import { createPrepare } from './prepare.ts';
import { createProcessRecords } from './process-records.ts';
import { createSignals } from './signals.ts';
import { createStoreHolder } from './store-holder.ts';
import { createUpkeep } from './upkeep.ts';
import { type BlockedLoop, createWatchdog } from './watchdog.ts';
import { createWriter } from './writer.ts';

/** The settings of the worker. */
export interface WorkerStart {
  readonly signals: SharedArrayBuffer;
  /** Names this process and its journal. */
  readonly process: string;
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
  /** Undefined for no notifications. */
  readonly notify?: NotifySettings | undefined;
  /** The first wait before a store that is unavailable or refuses an entry is tried again (ms). */
  readonly retryFirst?: number | undefined;
}

/** The work of the worker thread, without the thread. */
interface DeskWorkerOptions {
  readonly start: WorkerStart;
  readonly count: Count;
  readonly log: DeskLog;
  readonly onBlocked: (report: BlockedLoop) => void;
  readonly onRetained: (report: RetentionReport) => void;
}

export function createDeskWorker({ start, count, log, onBlocked, onRetained }: DeskWorkerOptions) {
  const {
    process,
    build,
    release,
    environment,
    namespace,
    dist,
    dataDir,
    databaseUrl,
    notify,
    retryFirst = RETRY_FIRST,
  } = start;
  const journals = join(dataDir, 'journal');
  const folder = join(journals, process);
  const signals = createSignals(start.signals);
  const targets = notify ? createTargets(notify) : [];
  const rules = { after: notify?.after ?? 1, targets };
  signals.storeState = 'opening';
  const holder = createStoreHolder({
    open: async () => openStore(openDriver({ dataDir, databaseUrl, log }), { environment, rules }),
    retryFirst,
    count,
    log,
    onOpen() {
      signals.storeState = 'reachable';
      upkeep.catchUp();
    },
    onAway() {
      signals.storeState = 'away';
    },
  });
  const files = createBuildFiles({ build, dist, holder });
  const maps = createMapReader({
    readMap: files.readMap,
    readSource: files.readSource,
    readLocations: files.readLocations,
  });
  const prepare = createPrepare({ maps, namespace, readLocations: files.readLocations, log });
  const facts = { environment, deskOrigin: notify?.deskOrigin };
  const notifier = createNotifier({ targets, facts, holder, log });
  const writer = createWriter({
    ...{ process, folder, signals, holder, prepare, retryFirst, count, log },
    onStored: notifier.wake,
  });
  const watchdog = createWatchdog({ signals, onBlocked });
  const processes = createProcessRecords({
    start: { id: process, build, release, environment, startedAt: start.startedAt },
    ...{ folder, holder, namespace, log },
    blockedMs: () => watchdog.blockedMs,
  });
  const upkeep = createUpkeep({
    ...{ process, build, release, dist, journals, retryFirst, holder, writer, processes, signals, onRetained, log },
    limits: start.retention,
  });
  const lookups = createLookups({ holder, writer, isShared: databaseUrl !== undefined });
  const timers = [
    setInterval(() => watchdog.look(), PULSE_INTERVAL),
    setInterval(() => processes.write(), BEAT_INTERVAL),
    setInterval(() => void upkeep.lookAfter(), RETRY_LONGEST),
    setInterval(() => void upkeep.retain(), RETENTION_INTERVAL),
    setInterval(() => {
      maps.sweep();
      files.sweep();
    }, RETRY_LONGEST),
  ];
  holder.start();

  async function close(): Promise<void> {
    for (const timer of timers) clearInterval(timer);
    writer.stop();
    await Promise.all([
      upkeep.quietly('The journal could not be stored before the end.', () =>
        withinTime(
          CLOSE_PATIENCE,
          processes.end().then(() => writer.adopt({ process, folder, environment })),
        ),
      ),
      // A notification whose result is not recorded is sent again.
      upkeep.quietly('A notification was interrupted.', () => withinTime(CLOSE_PATIENCE, notifier.stop())),
    ]);
    upkeep.stop();
    await withinTime(CLOSE_PATIENCE, holder.close()).catch(() => undefined);
  }

  const calls: DeskCalls = {
    ...passOn(READS, lookups.read),
    ...passOn(CHANGES, lookups.change),
    ...passOn(DIRECT, holder.use),
    beat: async (beat) => processes.note(beat),
    find: lookups.find,
    resolveQuery: lookups.resolveQuery,
    isEchoAwaited: lookups.isEchoAwaited,
    sendTestNotifications: () => notifier.sendTest(),
    async settle() {
      await writer.settle(SETTLE_PATIENCE);
      return !writer.isBehind;
    },
    flush: () => writer.flush(),
    close,
  };

  return {
    /** Called when the main thread has appended to its journal. */
    wake: () => writer.wake(),
    calls,
  };
}

/** Passes calls to the store's methods of the same names. @param use waits as needed, then works with the store */
function passOn<const Name extends keyof Store>(
  names: readonly Name[],
  use: <T>(ask: (store: Store) => Promise<T>) => Promise<T>,
): Pick<Store, Name> {
  const calls = names.map((name) => [
    name,
    (...args: never[]) => use((store) => (store[name] as (...args: never[]) => Promise<unknown>)(...args)),
  ]);
  return Object.fromEntries(calls) as Pick<Store, Name>; // each calls the method of its name
}
