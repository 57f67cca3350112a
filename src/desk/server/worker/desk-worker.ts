import { join } from 'node:path';
import { readInFlight } from '#engine/tracker';
import type { DeskCount } from '../counters.ts';
import { JOURNAL_FOLDER } from '../data-files.ts';
import {
  CLOSE_PATIENCE,
  HEARTBEAT_INTERVAL,
  PULSE_INTERVAL,
  RETENTION_INTERVAL,
  RETRY_FIRST,
  RETRY_LONGEST,
} from '../desk-limits.ts';
import type { DeskLog } from '../desk-log.ts';
import { createSignals } from '../ingest/signals.ts';
import { createNotifier } from '../notifications/notifier.ts';
import { createTargets } from '../notifications/targets.ts';
import type { RetentionReport } from '../store/retention.ts';
import { openDriver, openStore } from '../store/store.ts';
import { createStoreHolder } from '../store/store-holder.ts';
import { withinTime } from '../within-time.ts';
import { createDeadJournals } from './adopt.ts';
import { createAnswers } from './answers.ts';
import { createBuildFiles } from './maps/build-files.ts';
import { createMapReader } from './maps/map-reader.ts';
import type { WorkerStart } from './messages.ts';
import { createMoveJournal } from './move-journal.ts';
import { createPrepare } from './prepare.ts';
import { createProcessRecords } from './process-records.ts';
import { createTasks } from './tasks.ts';
import { createUpkeep } from './upkeep.ts';
import { type BlockedLoop, createWatchdog } from './watchdog.ts';
import { createWriter } from './writer.ts';

interface DeskWorkerOptions {
  readonly count: DeskCount;
  readonly log: DeskLog;
  readonly onBlocked: (report: BlockedLoop) => void;
  readonly onRetained: (report: RetentionReport) => void;
}

/** The work of the worker thread, without the thread. */
export function createDeskWorker(start: WorkerStart, { count, log, onBlocked, onRetained }: DeskWorkerOptions) {
  const { process, startedAt, running, storing } = start;
  const { build, release, environment, namespace, dist } = running;
  const { dataDir, databaseUrl, notify, retryFirst = RETRY_FIRST } = storing;
  const journals = join(dataDir, JOURNAL_FOLDER);
  const journal = { process, folder: join(journals, process) };
  const signals = createSignals(start.signals);
  const targets = notify ? createTargets(notify) : [];
  const rules = { after: notify?.after ?? 1, targets };
  const holder = createStoreHolder({
    open: async () => openStore(await openDriver({ dataDir, databaseUrl, log }), { environment, rules }),
    signals,
    retryFirst,
    count,
    log,
  });
  const withStore = holder.use;
  const files = createBuildFiles({ build, dist, withStore });
  const maps = createMapReader(files);
  const prepare = createPrepare({ maps, namespace, readLocations: files.readLocations, log });
  const notifier = createNotifier({ targets, facts: { environment, deskOrigin: notify?.deskOrigin }, withStore, log });
  const moveJournal = createMoveJournal({ withStore, prepare, onStored: notifier.wake, count, log });
  const writer = createWriter(journal, { moveJournal, signals, withStore, retryFirst, count, log });
  const listRequests = () => readInFlight(start.inFlight);
  const watchdog = createWatchdog({
    signals,
    listRequests,
    onSilent: () => void processes.writeAgain(),
    onBlocked,
  });
  const processes = createProcessRecords(
    {
      start: { id: process, build, release, environment, startedAt },
      folder: journal.folder,
      readState: () => ({
        inFlight: listRequests(),
        heap: { used: signals.heap, limit: start.heapLimit },
        blockedMs: watchdog.blockedMs,
      }),
    },
    { holder, namespace, log },
  );
  const deadJournals = createDeadJournals(journals, process, { writer, processes, signals, log });
  const tasks = createTasks(log);
  const upkeep = createUpkeep(
    { running, retention: storing.retention, retryFirst, onRetained },
    { holder, writer, deadJournals, processes, tasks },
  );
  const timers = [
    setInterval(watchdog.check, PULSE_INTERVAL),
    setInterval(processes.write, HEARTBEAT_INTERVAL),
    setInterval(upkeep.lookAfter, RETRY_LONGEST),
    setInterval(upkeep.retain, RETENTION_INTERVAL),
    setInterval(maps.sweep, RETRY_LONGEST),
    setInterval(files.sweep, RETRY_LONGEST),
  ];
  // First, because the store can be unavailable for long.
  void tasks.run('The journals of ended processes could not be read.', async () => deadJournals.claim());
  holder.start(upkeep.catchUp);

  async function close(): Promise<void> {
    for (const timer of timers) clearInterval(timer);
    writer.stop();
    await Promise.all([
      tasks.run('The journal could not be stored before the end.', () =>
        withinTime(
          CLOSE_PATIENCE,
          processes.end().then(() => writer.adopt(journal, environment)),
        ),
      ),
      // A notification whose result is not recorded is sent again.
      tasks.run('A notification was interrupted.', () => withinTime(CLOSE_PATIENCE, notifier.stop())),
    ]);
    upkeep.stop();
    deadJournals.release();
    await withinTime(CLOSE_PATIENCE, holder.close()).catch(() => undefined);
  }

  return {
    /** Called when the main thread has appended to its journal. */
    wake: writer.wake,
    calls: createAnswers({ withStore, writer, notifier, isShared: databaseUrl !== undefined, close }),
  };
}
