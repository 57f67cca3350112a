import { Millisecond, Second } from '../../../shared/units.ts';
import type { DeskLog } from '../desk-log.ts';
import type { Store } from '../store/store.ts';
import { claimDeadJournals } from '../worker/adopt.ts';
import { createDeadLetters } from '../worker/dead-letters.ts';
import { createBuildFiles } from '../worker/maps/build-files.ts';
import type { Digester } from '../worker/maps/digester.ts';
import { createMapReader } from '../worker/maps/map-reader.ts';
import { createPrepare } from '../worker/prepare.ts';
import { readHeartbeatFile } from '../worker/processes/heartbeat-file.ts';
import { createProcessRecords } from '../worker/processes/process-records.ts';
import { createSignals } from '../worker/signals.ts';
import type { StoreHolder } from '../worker/store-holder.ts';
import { createWriter } from '../worker/writer.ts';
import { countWaiting, listRunFolders, toJournals } from './list-journals.ts';

export interface IngestOptions {
  readonly store: Store;
  readonly dataDir: string;
  /** The environment of this command. */
  readonly environment: string;
  /** The current build and its folder. They resolve failures of a process that died before it published its build. */
  readonly build: string;
  readonly dist: string;
  readonly digester: Digester;
  readonly log: DeskLog;
}

/** How long to wait for running servers. They store a journal line within 100 ms, or later on a busy machine (ms). */
const PATIENCE = 2 * Second;
const LOOK_INTERVAL = 50 * Millisecond;

/**
 * Stores the journals that dead processes left, as the next start of a server would, with the same locks. Then waits
 * until running processes have stored theirs.
 *
 * @returns the number of entries that running processes have still not stored
 * @throws StoreAwayError
 */
export async function ingestJournals(options: IngestOptions): Promise<number> {
  await adoptDead(options);
  return waitForRunning(options);
}

async function adoptDead({
  store,
  dataDir,
  environment: here,
  build,
  dist,
  digester,
  log,
}: IngestOptions): Promise<void> {
  const dead = claimDeadJournals(toJournals(dataDir), '', log);
  if (dead.length === 0) return;
  const holder: Pick<StoreHolder, 'use' | 'reachableSince'> = { use: (work) => work(store), reachableSince: 0 };
  const { readMap, readLocations } = createBuildFiles({ build, dist, holder });
  const findFunction = async (of: string, frame: Parameters<Digester['findFunction']>[0]) =>
    digester.findFunction(frame, await readLocations(of));
  const prepare = createPrepare({ maps: createMapReader({ readMap, findFunction }), digester, readLocations, log });
  const count = () => undefined; // a command has no metrics
  const deadLetters = createDeadLetters({ dataDir, environment: here, count, log });
  const writer = createWriter({
    run: '',
    folder: '',
    signals: createSignals(),
    holder,
    prepare,
    deadLetters,
    count,
    log,
  });
  const own = { id: '', build, release: '', startedAt: Date.now() };
  const runs = createProcessRecords({ run: own, folder: '', holder, blocked: () => undefined, digester, prepare, log });
  let isDone = 0;
  try {
    for (const journal of dead) {
      const beside = readHeartbeatFile(journal.folder);
      const environment = beside?.environment ?? (await store.readEnvironment(journal.run));
      await writer.adopt({ ...journal, environment });
      isDone += 1;
      journal.release(true);
      await runs.tellDead(journal.run, beside);
    }
  } finally {
    for (const journal of dead.slice(isDone)) journal.release(false);
  }
}

async function waitForRunning({ store, dataDir }: IngestOptions): Promise<number> {
  const end = performance.now() + PATIENCE;
  for (;;) {
    let waiting = 0;
    for (const { run, folder } of listRunFolders(dataDir)) {
      waiting += countWaiting(folder, await store.readPosition(run));
    }
    if (waiting === 0 || performance.now() > end) return waiting;
    await new Promise((resolve) => setTimeout(resolve, LOOK_INTERVAL));
  }
}
