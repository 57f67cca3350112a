import type { DeskLog } from '../../desk-log.ts';
import { BEAT_INTERVAL, DEAD_AFTER } from '../../limits.ts';
import type { LateBeat, RunStart } from '../../store/run-table.ts';
import { StoreError } from '../../store/sql.ts';
import type { Digester } from '../maps/digester.ts';
import type { Prepare } from '../prepare.ts';
import type { StoreHolder } from '../store-holder.ts';
import type { Beat, BlockedLoop, MemoryStory } from './heartbeat.ts';
import { removeBeatFile, writeBeatFile } from './heartbeat-file.ts';
import { createMemoryHistory } from './memory-history.ts';
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

export function createRuns(options: RunsOptions): Runs {
  const { run, folder, holder, blocked, digester, prepare, log } = options;
  const history = createMemoryHistory();
  /** It is told only where it changed: once a second it is not worth its bytes. */
  let isStoryDue = false;
  let last: Beat = { inFlight: [], memory: 0 };
  let beating: Promise<void> | undefined;
  let notedAt = Number.NEGATIVE_INFINITY;
  let isEnded = false;
  /** The heartbeat is in a file with the journal, because the store does not take it. */
  let isBesides = false;
  /** When the store last did not take the heartbeat (ms, monotonic). */
  let refusedAt = Number.NEGATIVE_INFINITY;

  function write(): void {
    if (!isEnded) beating ??= writeBeat();
  }

  async function writeBeat(): Promise<void> {
    const memoryStory = isStoryDue ? toMemoryStory() : undefined;
    isStoryDue = false;
    const beat = { ...last, startedAt: run.startedAt, blocked: blocked(), memoryStory };
    try {
      await holder.use((store) => store.storeBeat(run, beat));
      if (isBesides) removeBeatFile(folder);
      isBesides = false;
    } catch (error) {
      isStoryDue ||= memoryStory !== undefined;
      refusedAt = performance.now();
      if (error instanceof StoreError) writeBeside(false);
      else log.error({ err: error }, 'The heartbeat of this process was refused.');
    } finally {
      beating = undefined;
    }
  }

  function writeBeside(isEnd: boolean): void {
    isBesides = true;
    const memoryStory = toMemoryStory();
    writeBeatFile(folder, { ...run, ...last, beatAt: Date.now(), blocked: blocked(), memoryStory, isEnd });
  }

  function toMemoryStory(): MemoryStory | undefined {
    const told = history.tell();
    return told && { ...told, heapLimit: last.heap?.limit ?? 0 };
  }

  async function tellDead(id: string): Promise<void> {
    const dead = await holder.use((store) => store.readUnended(id));
    if (!dead) return;
    const failure = toDeathFailure(dead, digester);
    const [incident] = await prepare([{ entry: 'whole', failure }]);
    if (!incident || !(await holder.use((store) => store.tellDead(id, incident)))) return;
    const { digest, occurrence, kind, origin, build, release } = failure;
    // The history is for a chart.
    const { memoryHistory: _history, ...extra } = failure.extra ?? {};
    log.error({ digest, occurrence, kind, origin, build, release, extra }, DEAD);
  }

  return {
    note(beat) {
      last = beat;
      notedAt = performance.now();
      if (history.add(beat.memory, beat.heap?.used ?? 0)) isStoryDue = true;
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
      // A store that was away for all, or a lock on the heartbeats, makes everybody's heartbeat old.
      const since = Math.max(holder.reachableSince ?? Number.POSITIVE_INFINITY, refusedAt);
      if (isShared && performance.now() - since < DEAD_AFTER) return;
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

/** Of a process that was killed before its desk worker came to write anything: its id holds the time of its start. */
function toUnknownBeat(id: string): LateBeat {
  const startedAt = Number.parseInt(id, 36) || 0;
  return { id, build: '', release: '', startedAt, beatAt: startedAt, memory: 0, inFlight: [], isEnd: false };
}
