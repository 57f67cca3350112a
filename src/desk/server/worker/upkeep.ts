import { MiB } from '../../../shared/units.ts';
import { RETRY_LONGEST } from '../desk-limits.ts';
import type { DeskRetention } from '../read-settings.ts';
import type { RetentionReport } from '../store/retention.ts';
import type { StoreHolder } from '../store/store-holder.ts';
import type { DeadJournals } from './adopt.ts';
import { DEVELOPMENT, publishBuild } from './maps/publish-build.ts';
import type { Running } from './messages.ts';
import type { ProcessRecords } from './process-records.ts';
import type { Tasks } from './tasks.ts';
import type { Writer } from './writer.ts';

interface UpkeepOptions {
  readonly running: Pick<Running, 'build' | 'release' | 'dist'>;
  readonly retention: DeskRetention;
  /** The first wait before everything is tried again (ms). */
  readonly retryFirst: number;
  readonly onRetained: (report: RetentionReport) => void;
}

interface UpkeepParts {
  readonly holder: StoreHolder;
  readonly writer: Pick<Writer, 'flush'>;
  readonly deadJournals: DeadJournals;
  readonly processes: ProcessRecords;
  readonly tasks: Tasks;
}

const FULL =
  'The desk has reached its size limit of {size} MB (DESK_MAX_SIZE), so its oldest rows are deleted. To control what stays, raise DESK_MAX_SIZE or lower DESK_RETENTION_DAYS.';

/** What is due when the store becomes available, and from time to time. */
export function createUpkeep(
  { running, retention, retryFirst, onRetained }: UpkeepOptions,
  { holder, writer, deadJournals, processes, tasks }: UpkeepParts,
) {
  const { build, release } = running;
  let catching = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

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
    const isStarted = await tasks.run('The start of this build could not be recorded in the store.', async () => {
      if (build !== DEVELOPMENT) await holder.use((store) => store.builds.useBuild({ id: build, release }));
    });
    // Before everything that can take long, because a page of this build can load its assets from another replica.
    const isPublished = await tasks.run('The files of this build could not be stored.', () =>
      publishBuild(holder.use, running),
    );
    await tasks.run('The journal could not be stored.', () => writer.flush());
    processes.write();
    const isDone = (await recordEnded()) && isStarted && isPublished;
    if (isDone) await retain();
    return isDone;
  }

  async function recordEnded(): Promise<boolean> {
    const areAdopted = await tasks.run('The journals of ended processes could not be stored.', deadJournals.adoptAll);
    const areRecorded = await tasks.run('Ended processes could not be recorded.', processes.endOfSilent);
    return areAdopted && areRecorded;
  }

  async function retain(): Promise<void> {
    await tasks.run('Old rows of the desk could not be deleted.', async () => {
      const report = await holder.use((store) => store.retain(build, retention));
      const sentence = FULL.replace('{size}', String(retention.maxBytes / MiB));
      tasks.warnWhile(report.deletedForSize > 0, sentence, { rows: report.deletedForSize });
      onRetained(report);
    });
  }

  return {
    catchUp: () => catchUp(),
    retain,
    /** Checks the store regularly. */
    async lookAfter() {
      await tasks.run('The regular check of the store failed.', async () => {
        await holder.use((store) => store.check());
        await holder.use((store) => store.changes.endIgnores());
        // A replica with the same folder can have been killed. Not during `doAll`, which stores the same journals.
        catching = catching.then(async () => {
          await recordEnded();
        });
        await catching;
      });
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
