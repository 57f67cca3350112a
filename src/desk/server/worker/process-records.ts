import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDigest, emptyLocationTable, type Failure, toOccurrence } from '#engine/tracker';
import { DEAD_AFTER } from '../desk-limits.ts';
import type { DeskLog } from '../desk-log.ts';
import type { DeadProcess, Heartbeat, ProcessStart } from '../store/process-table.ts';
import { QueryFailedError, StoreError } from '../store/sql.ts';
import type { StoreHolder } from '../store/store-holder.ts';
import type { ProcessJournal } from './move-journal.ts';

interface OwnProcess {
  readonly start: ProcessStart;
  /** The folder of its journal. */
  readonly folder: string;
  /** Reads the state of the main thread, for its heartbeats. */
  readonly readState: () => Omit<Heartbeat, 'memory'>;
}

interface ProcessRecordsOptions {
  readonly holder: Pick<StoreHolder, 'use' | 'reachableSince' | 'noteHeartbeat'>;
  /** Of the digests of deaths. */
  readonly namespace: string;
  readonly log: DeskLog;
}

/** A file beside the journal of a process that ended on purpose while the store was unavailable. */
const ENDED = 'ended';

const DEAD = 'A process of this server ended unexpectedly. See its incident on the desk.';

export type ProcessRecords = ReturnType<typeof createProcessRecords>;

/** Writes the record of this process, and reports the deaths of others. */
export function createProcessRecords(
  { start, folder, readState }: OwnProcess,
  { holder, namespace, log }: ProcessRecordsOptions,
) {
  let memory = 0;
  let writing: Promise<void> | undefined;
  let isEnded = false;
  /** When the store last refused the heartbeat (ms, monotonic). */
  let refusedAt = Number.NEGATIVE_INFINITY;

  function write(): void {
    if (!isEnded) writing ??= writeHeartbeat();
  }

  async function writeHeartbeat(): Promise<void> {
    try {
      memory = process.memoryUsage.rss();
    } catch {
      // It opens a file, and none is free. Without a heartbeat, this process would count as dead.
    }
    try {
      await holder.use((store) => store.processes.storeHeartbeat(start, { ...readState(), memory }));
      holder.noteHeartbeat();
    } catch (error) {
      refusedAt = performance.now();
      if (error instanceof QueryFailedError) holder.noteHeartbeat(error);
      if (!(error instanceof StoreError))
        log.error({ err: error }, 'The heartbeat of this process could not be stored.');
    } finally {
      writing = undefined;
    }
  }

  async function recordDeath(id: string): Promise<void> {
    const dead = await holder.use((store) => store.processes.readUnended(id));
    if (!dead) return;
    // `npm run dev` kills a server that does not stop in time.
    if (process.env.SPILLWAY_DEV && dead.environment === start.environment) {
      return holder.use((store) => store.processes.storeEnd(id));
    }
    const failure = toDeathFailure(dead, namespace);
    const isFirst = await holder.use((store) => store.processes.recordDeath(id, failure, dead.environment));
    if (!isFirst) return;
    const { digest, occurrence, kind, build, release, extra } = failure;
    log.error({ digest, occurrence, kind, build, release, extra }, DEAD);
  }

  return {
    /** Writes the heartbeat. Call it every `HEARTBEAT_INTERVAL`. */
    write,
    /** Writes it again, even if it is being written. */
    async writeAgain() {
      await writing;
      write();
    },
    /** Records the end of a process that left a journal. @returns its environment */
    async endOf({ process: id, folder: of }: ProcessJournal): Promise<string> {
      const environment = (await holder.use((store) => store.processes.readEnvironment(id))) ?? start.environment;
      // The id contains the time of the start.
      const unknown = { id, build: '', release: '', environment, startedAt: Number.parseInt(id, 36) || 0 };
      await holder.use((store) => store.processes.storeUnknown(unknown));
      if (existsSync(join(of, ENDED))) await holder.use((store) => store.processes.storeEnd(id));
      else await recordDeath(id);
      return environment;
    },
    /** Records the deaths of processes without a recent heartbeat. */
    async endOfSilent() {
      const isShared = await holder.use(async (store) => store.isShared);
      // If the store was unavailable or the heartbeats were locked, the heartbeats of all processes are old.
      const since = Math.max(holder.reachableSince ?? Number.POSITIVE_INFINITY, refusedAt);
      if (isShared && performance.now() - since < DEAD_AFTER) return;
      const silent = await holder.use((store) => store.processes.listSilent(isShared ? DEAD_AFTER : 0));
      for (const id of silent.filter((id) => id !== start.id)) await recordDeath(id);
    },
    async end() {
      isEnded = true;
      // First, because a database that hangs outlasts the stop.
      markEnded(folder);
      await writing;
      await holder.use((store) => store.processes.storeEnd(start.id));
    },
  };
}

/** @param folder the folder of this process's journal */
export function markEnded(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, ENDED), '', { mode: 0o600 });
  } catch {
    // The disk is not writable, so the end of this process will be unknown.
  }
}

/** Turns the last record of a process that was killed or ran out of memory into a failure. */
function toDeathFailure(dead: DeadProcess, namespace: string): Failure {
  const id = randomBytes(16).toString('hex');
  const { blockedMs, memory, heap, inFlight, startedAt, heartbeatAt, build, release } = dead;
  const reason = findReason(dead);
  return {
    id,
    occurrence: toOccurrence(id),
    side: 'server',
    origin: 'process',
    at: heartbeatAt,
    build,
    release,
    errors: [],
    extra: {
      process: dead.id,
      startedAt,
      lastHeardAt: heartbeatAt,
      memory,
      heap,
      inFlight,
      blockedFor: blockedMs || undefined,
    },
    // Only kind and reason are in the digest, so that a leak that moves by a line stays in the same incident.
    ...createDigest(
      { kind: 'unclean-death', side: 'server', errors: [], ...(reason && { details: { reason } }) },
      { namespace, table: emptyLocationTable },
    ),
  };
}

/** The share of the heap's limit from which the process probably ran out of memory. */
const FULL_HEAP = 0.9;

/** Returns the probable reason, from the last heartbeat. A full heap also blocks the event loop, by collecting garbage. */
function findReason({ heap, blockedMs }: DeadProcess): string | undefined {
  if (heap && heap.used > FULL_HEAP * heap.limit) return 'out of memory';
  return blockedMs ? 'event loop blocked' : undefined;
}
