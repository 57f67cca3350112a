import type { DeskLog } from '../../desk-log.ts';
import { BEAT_INTERVAL, DEAD_AFTER } from '../../limits.ts';
import type { LateHeartbeat, ProcessStart } from '../../store/servers/process-table.ts';
import { StoreError } from '../../store/sql.ts';
import type { Digester } from '../maps/digester.ts';
import type { Prepare } from '../prepare.ts';
import type { StoreHolder } from '../store-holder.ts';
import type { BlockedLoop, Heartbeat, MemoryStory } from './heartbeat.ts';
import { removeHeartbeatFile, writeHeartbeatFile } from './heartbeat-file.ts';
import { createMemoryHistory } from './memory-history.ts';
import { toDeathFailure } from './unclean-death.ts';

interface ProcessRecordsOptions {
  readonly run: ProcessStart & { readonly startedAt: number };
  /** The folder of this process's journal. */
  readonly folder: string;
  readonly holder: Pick<StoreHolder, 'use' | 'reachableSince'>;
  readonly blocked: () => BlockedLoop | undefined;
  readonly digester: Digester;
  readonly prepare: Prepare;
  readonly log: DeskLog;
}

/** Writes the record of this process, and reports the deaths of others. */
export function createProcessRecords(options: ProcessRecordsOptions) {
  const { run, folder, holder, blocked, digester, prepare, log } = options;
  const history = createMemoryHistory();
  /** Whether the memory history has changed. It is too large to be written with each heartbeat. */
  let isStoryDue = false;
  let last: Heartbeat = { inFlight: [], memory: 0 };
  let beating: Promise<void> | undefined;
  let notedAt = Number.NEGATIVE_INFINITY;
  let isEnded = false;
  /** Whether the heartbeat is in a file next to the journal, because the store does not accept it. */
  let isBesides = false;
  /** When the store last refused the heartbeat (ms, monotonic). */
  let refusedAt = Number.NEGATIVE_INFINITY;

  function write(): void {
    if (!isEnded) beating ??= writeHeartbeat();
  }

  async function writeHeartbeat(): Promise<void> {
    const memoryStory = isStoryDue ? toMemoryStory() : undefined;
    isStoryDue = false;
    const beat = { ...last, startedAt: run.startedAt, blocked: blocked(), memoryStory };
    try {
      await holder.use((store) => store.storeHeartbeat(run, beat));
      if (isBesides) removeHeartbeatFile(folder);
      isBesides = false;
    } catch (error) {
      isStoryDue ||= memoryStory !== undefined;
      refusedAt = performance.now();
      if (error instanceof StoreError) writeBeside(false);
      else log.error({ err: error }, 'The heartbeat of this process could not be stored.');
    } finally {
      beating = undefined;
    }
  }

  function writeBeside(isEnd: boolean): void {
    isBesides = true;
    const memoryStory = toMemoryStory();
    writeHeartbeatFile(folder, { ...run, ...last, beatAt: Date.now(), blocked: blocked(), memoryStory, isEnd });
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
    // The history is only for a chart.
    const { memoryHistory: _history, ...extra } = failure.extra ?? {};
    log.error({ digest, occurrence, kind, origin, build, release, extra }, DEAD);
  }

  return {
    /** Writes a heartbeat of the main thread. */
    note(beat: Heartbeat) {
      last = beat;
      notedAt = performance.now();
      if (history.add(beat.memory, beat.heap?.used ?? 0)) isStoryDue = true;
      write();
    },
    /** Repeats the last heartbeat if the main thread sends none: it is blocked, but the process lives. */
    goOn() {
      if (performance.now() - notedAt > BEAT_INTERVAL) write();
    },
    /** Writes the current state, for example that the main thread is blocked. One write at a time. */
    write,
    /** Reports the end of a process that left a journal. @param beside the heartbeat file in its folder, if any */
    async tellDead(id: string, beside: LateHeartbeat | undefined): Promise<void> {
      if (beside?.isEnd) return holder.use((store) => store.storeEnd(id));
      await holder.use((store) => store.storeLateHeartbeat(beside ?? toUnknownHeartbeat(id)));
      await tellDead(id);
    },
    /** Reports the deaths of processes without a recent heartbeat. */
    async tellSilent() {
      const isShared = await holder.use(async (store) => store.isShared);
      // If the store was unavailable or the heartbeats were locked, the heartbeats of all processes are old.
      const since = Math.max(holder.reachableSince ?? Number.POSITIVE_INFINITY, refusedAt);
      if (isShared && performance.now() - since < DEAD_AFTER) return;
      const silent = await holder.use((store) => store.listSilent(isShared ? DEAD_AFTER : 0));
      for (const id of silent.filter((id) => id !== run.id)) await tellDead(id);
    },
    async end() {
      isEnded = true;
      // A heartbeat after the end would record the process as alive.
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

const DEAD = 'A process of this server ended unexpectedly. See its incident on the desk.';

/** Returns a heartbeat for a process that was killed before it wrote one. Its id contains the time of its start. */
function toUnknownHeartbeat(id: string): LateHeartbeat {
  const startedAt = Number.parseInt(id, 36) || 0;
  return { id, build: '', release: '', startedAt, beatAt: startedAt, memory: 0, inFlight: [], isEnd: false };
}
