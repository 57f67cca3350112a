import { MiB } from '../../../shared/units.ts';
import type { DeskLog } from '../desk-log.ts';
import type { Signals } from '../ingest/signals.ts';
import { RETRY_LONGEST } from '../limits.ts';
import type { DeskRetention } from '../read-settings.ts';
import type { RetentionReport } from '../store/retention.ts';
import { StoreError } from '../store/sql.ts';
import type { StoreHolder } from '../store/store-holder.ts';
import { claimDeadJournals, type DeadJournal } from './adopt.ts';
import { DEVELOPMENT, publishBuild } from './maps/publish-build.ts';
import type { Running } from './messages.ts';
import type { ProcessRecords } from './process-records.ts';
import type { Writer } from './writer.ts';

interface UpkeepOptions {
  /** Names this process. */
  readonly process: string;
  readonly running: Pick<Running, 'build' | 'release' | 'dist'>;
  readonly retention: DeskRetention;
  /** The folder of all journals. */
  readonly journals: string;
  readonly retryFirst: number;
  readonly holder: StoreHolder;
  readonly writer: Writer;
  readonly processes: ProcessRecords;
  readonly signals: Pick<Signals, 'inherited'>;
  readonly onRetained: (report: RetentionReport) => void;
  readonly log: DeskLog;
}

const FULL =
  'The desk has reached its size limit of {size} MB (DESK_MAX_SIZE), so its oldest rows are deleted. To control what stays, raise DESK_MAX_SIZE or lower DESK_RETENTION_DAYS.';

/** What is due when the store becomes available, and from time to time. */
export function createUpkeep(options: UpkeepOptions) {
  const { process, running, retention, journals, retryFirst, holder, writer, processes, signals, onRetained, log } =
    options;
  const { build, release } = running;
  let dead: readonly DeadJournal[] = [];
  let catching = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  /** Tasks whose failure was logged, and states that were. */
  const logged = new Set<string>();

  /** Does everything that is due when the store is available again, and repeats it if a part failed. */
  function catchUp(wait = retryFirst): void {
    clearTimeout(timer);
    catching = catching.then(async () => {
      // If the store is unavailable, this is called again once it is back.
      if ((await doAll()) || isStopped || holder.reachableSince === undefined) return;
      timer = setTimeout(() => catchUp(Math.min(2 * wait, RETRY_LONGEST)), wait);
    });
  }

  /** @returns whether everything succeeded, except for the journal, which the writer itself tries again */
  async function doAll(): Promise<boolean> {
    // Before the first failure of this release is stored, because the time of its first start orders releases.
    const isStarted = await quietly('The start of this build could not be recorded in the store.', async () => {
      if (build !== DEVELOPMENT) await holder.use((store) => store.builds.useBuild({ id: build, release }));
    });
    // Before everything that can take long, because a page of this build can load them from another replica.
    const areServed = await quietly('The assets of this build could not be stored.', () =>
      publishBuild(holder, running, 'assets'),
    );
    await quietly('The journal could not be stored.', () => writer.flush());
    processes.write();
    const areAdopted = await quietly('The journals of ended processes could not be stored.', adoptAll);
    const areRecorded = await quietly('Ended processes could not be recorded.', () => processes.endOfSilent());
    const isPublished =
      areServed &&
      (await quietly('The files of this build could not be stored.', () => publishBuild(holder, running, 'rest')));
    const isDone = isStarted && areAdopted && areRecorded && isPublished;
    if (isDone) await retain();
    return isDone;
  }

  /** Stores the journals of dead processes. Records the death first, so that it is not recorded without its journal. */
  async function adoptAll(): Promise<void> {
    // Again, because a process can have ended while the store was unavailable.
    claim();
    for (const journal of dead) {
      const environment = await processes.endOf(journal);
      await writer.adopt({ ...journal, environment });
      dead = dead.filter((other) => other !== journal);
      journal.release(true);
      noteInherited();
    }
  }

  /** Takes over the journals of dead processes, and counts what waits in them. */
  function claim(): void {
    dead = [...dead, ...claimDeadJournals(journals, process, log)];
    noteInherited();
  }

  function noteInherited(): void {
    signals.inherited = dead.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  async function retain(): Promise<void> {
    await quietly('Old rows of the desk could not be deleted.', async () => {
      const report = await holder.use((store) => store.retain({ build, ...retention }));
      logOnce(report.deletedForSize > 0, FULL.replace('{size}', String(retention.maxBytes / MiB)), (sentence) =>
        log.warn({ rows: report.deletedForSize }, sentence),
      );
      onRetained(report);
    });
  }

  function logOnce(is: boolean, sentence: string, write: (sentence: string) => void): void {
    if (is && !logged.has(sentence)) write(sentence);
    if (is) logged.add(sentence);
    else logged.delete(sentence);
  }

  /**
   * Does some work, and logs an error only once until the work succeeds. Errors of the store are already logged.
   *
   * @returns whether it succeeded
   */
  async function quietly(sentence: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      logged.delete(sentence);
      return true;
    } catch (error) {
      logOnce(!(error instanceof StoreError), sentence, () => log.error({ err: error }, sentence));
      return false;
    }
  }

  return {
    /** Call it first: the store can be unavailable for long. */
    claim: () => void quietly('The journals of ended processes could not be read.', async () => claim()),
    catchUp: () => catchUp(),
    retain,
    quietly,
    /** Checks the store regularly. */
    async lookAfter() {
      await quietly('The regular check of the store failed.', async () => {
        await holder.use((store) => store.check());
        await holder.use((store) => store.changes.endIgnores());
        await processes.endOfSilent();
      });
    },
    /** Leaves journals that are not stored yet to another process. */
    stop() {
      isStopped = true;
      clearTimeout(timer);
      for (const journal of dead) journal.release(false);
    },
  };
}
