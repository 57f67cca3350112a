import type { Beat, BlockedLoop } from '../beat.ts';
import type { DeskLog } from '../desk-log.ts';
import { BEAT_INTERVAL, DEAD_AFTER } from '../limits.ts';
import type { LateBeat, RunStart } from '../store/run-table.ts';
import { StoreAwayError } from '../store/sql.ts';
import { removeBeatFile, writeBeatFile } from './beat-file.ts';
import type { Digester } from './digester.ts';
import type { Prepare } from './prepare.ts';
import type { StoreHolder } from './store-holder.ts';
import { toDeathFailure } from './unclean-death.ts';

/** This process's row, and a look at those of the others. */
export interface Runs {
  /** What the main thread says of itself, to be written. */
  note(beat: Beat): void;
  /** Writes what it said last, where it says nothing: it stands still, and the process lives. */
  goOn(): void;
  /** Writes what is known, such as that the main thread stands still. At most one is on its way. */
  write(): void;
  /** Tells of a run whose journal was found without an owner. @param beside its heartbeat, where one stood there */
  tellDead(run: string, beside: LateBeat | undefined): Promise<void>;
  /** Tells of the runs that were not heard of for long enough. */
  tellSilent(): Promise<void>;
  end(): Promise<void>;
}

export interface RunsOptions {
  readonly run: RunStart & { readonly startedAt: number };
  /** Of this run's journal. */
  readonly folder: string;
  readonly holder: Pick<StoreHolder, 'use' | 'reachableSince'>;
  readonly blocked: () => BlockedLoop | undefined;
  readonly digester: Digester;
  readonly prepare: Prepare;
  readonly log: DeskLog;
}

export function createRuns({ run, folder, holder, blocked, digester, prepare, log }: RunsOptions): Runs {
  let last: Beat = { inFlight: [], memory: 0 };
  let beating: Promise<void> | undefined;
  let notedAt = Number.NEGATIVE_INFINITY;
  let isEnded = false;
  /** The heartbeat stands beside the journal, because the store is away. */
  let isBesides = false;

  function write(): void {
    if (!isEnded) beating ??= writeBeat();
  }

  async function writeBeat(): Promise<void> {
    try {
      await holder.use((store) => store.storeBeat(run, { ...last, startedAt: run.startedAt, blocked: blocked() }));
      if (isBesides) removeBeatFile(folder);
      isBesides = false;
    } catch (error) {
      if (error instanceof StoreAwayError) writeBeside(false);
      else log.error({ err: error }, 'The heartbeat of this process was refused.');
    } finally {
      beating = undefined;
    }
  }

  function writeBeside(isEnd: boolean): void {
    isBesides = true;
    writeBeatFile(folder, { ...run, ...last, beatAt: Date.now(), blocked: blocked(), isEnd });
  }

  async function tellDead(id: string): Promise<void> {
    const dead = await holder.use((store) => store.readUnended(id));
    if (!dead) return;
    const failure = toDeathFailure(dead, digester);
    const [incident] = await prepare([{ entry: 'whole', failure }]);
    if (!incident || !(await holder.use((store) => store.tellDead(id, incident)))) return;
    const { digest, occurrence, kind, origin, build, release, extra } = failure;
    log.error({ digest, occurrence, kind, origin, build, release, extra }, DEAD);
  }

  return {
    note(beat) {
      last = beat;
      notedAt = performance.now();
      write();
    },
    goOn() {
      if (performance.now() - notedAt > BEAT_INTERVAL) write();
    },
    write,
    async tellDead(id, beside) {
      if (beside?.isEnd) return holder.use((store) => store.storeEnd(id));
      await holder.use((store) => store.storeLateBeat(beside ?? toUnknownBeat(id)));
      await tellDead(id);
    },
    async tellSilent() {
      const isShared = await holder.use(async (store) => store.isShared);
      // A store that was away for all makes everybody's heartbeat old.
      const reachable = performance.now() - (holder.reachableSince ?? Number.POSITIVE_INFINITY);
      if (isShared && reachable < DEAD_AFTER) return;
      const silent = await holder.use((store) => store.listSilent(isShared ? DEAD_AFTER : 0));
      for (const id of silent.filter((id) => id !== run.id)) await tellDead(id);
    },
    async end() {
      isEnded = true;
      // A heartbeat that comes after the end would say that it lives.
      await beating;
      try {
        await holder.use((store) => store.storeEnd(run.id));
      } catch (error) {
        writeBeside(true);
        throw error;
      }
    },
  };
}

const DEAD = 'A process of this server ended without saying so. The desk has an incident of it.';

/** Of a process that was killed before its keeper came to write anything: its id holds the time of its start. */
function toUnknownBeat(id: string): LateBeat {
  const startedAt = Number.parseInt(id, 36) || 0;
  return { id, build: '', release: '', startedAt, beatAt: startedAt, memory: 0, inFlight: [], isEnd: false };
}
