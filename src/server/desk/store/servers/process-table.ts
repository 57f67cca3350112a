import type { InFlightRequest } from '../../../engine/connection/in-flight.ts';
import type { BlockedLoop, Heartbeat, MemoryStory } from '../../worker/processes/heartbeat.ts';
import type { ProcessRecord } from '../records.ts';
import { readShapes, type Sql, type SqlValue } from '../sql.ts';
import type { StoreContext } from '../store-context.ts';

/** The record of a dead process. */
export interface DeadProcess extends ProcessRecord {
  readonly inFlight: readonly InFlightRequest[];
  /** Set if its main thread was blocked at the last heartbeat. */
  readonly blocked?: BlockedLoop;
  readonly memoryStory?: MemoryStory;
}

export interface ProcessStart {
  readonly id: string;
  readonly build: string;
  readonly release: string;
  readonly environment?: string | undefined;
}

/** The main thread's heartbeat, with what the desk worker adds. */
interface StoredHeartbeat extends Heartbeat {
  readonly startedAt: number;
  readonly blocked?: BlockedLoop | undefined;
  /** Undefined if it has not changed since the last heartbeat. */
  readonly memoryStory?: MemoryStory | undefined;
}

/** Stores a heartbeat. A process that was recorded as dead is alive again: it had only lost the store. */
export async function storeHeartbeat({ quick }: StoreContext, run: ProcessStart, beat: StoredHeartbeat): Promise<void> {
  const { now } = quick.dialect;
  const values: SqlValue[] = [run.id, run.build, run.release, beat.startedAt, beat.memory];
  const texts = [
    JSON.stringify(beat.inFlight),
    beat.blocked ? JSON.stringify(beat.blocked) : null,
    run.environment ?? null,
    toStoryText(beat),
  ];
  await quick.run(
    `INSERT INTO desk_runs (id, build, release, started_at, memory, in_flight, blocked, environment, memory_story, beat_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ${now})
      ON CONFLICT (id) DO UPDATE SET memory = excluded.memory, in_flight = excluded.in_flight,
        blocked = excluded.blocked, beat_at = excluded.beat_at, ended = NULL, ended_at = NULL,
        memory_story = COALESCE(excluded.memory_story, desk_runs.memory_story)`,
    [...values, ...texts],
  );
}

/** The heartbeat in a file next to the journal of a process, for when the store is unavailable until it dies. */
export interface LateHeartbeat extends ProcessStart, StoredHeartbeat {
  readonly beatAt: number;
  /** Whether the process ended on purpose. */
  readonly isEnd: boolean;
}

/** Stores a heartbeat from a file, unless the store already knows the process. */
export async function storeLateHeartbeat({ quick }: StoreContext, late: LateHeartbeat): Promise<void> {
  const blocked = late.blocked ? JSON.stringify(late.blocked) : null;
  await quick.run(
    `INSERT INTO desk_runs (id, build, release, started_at, memory, in_flight, blocked, beat_at, environment, memory_story)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
    [
      late.id,
      late.build,
      late.release,
      late.startedAt,
      late.memory,
      JSON.stringify(late.inFlight),
      blocked,
      late.beatAt,
      late.environment ?? null,
      toStoryText(late),
    ],
  );
}

function toStoryText({ memoryStory }: StoredHeartbeat): string | null {
  return memoryStory ? JSON.stringify(memoryStory) : null;
}

export async function storeEnd({ quick }: StoreContext, id: string): Promise<void> {
  await quick.run(
    `UPDATE desk_runs SET ended = 'clean', ended_at = ${quick.dialect.now}, in_flight = '[]' WHERE id = ?`,
    [id],
  );
}

/** Lists processes that did not record their end, and sent no heartbeat for this long (ms). */
export async function listSilent({ driver }: StoreContext, forMs: number): Promise<string[]> {
  const rows = await driver.all<{ id: string }>(
    `SELECT id FROM desk_runs WHERE ended IS NULL AND beat_at <= ${driver.dialect.now} - ? ORDER BY id`,
    [forMs],
  );
  return rows.map(({ id }) => id);
}

const COLUMNS =
  'id, build, release, started_at AS "startedAt", beat_at AS "beatAt", ended_at AS "endedAt", ended, memory';

type DeadRow = ProcessRecord & Record<'inFlight' | 'blocked' | 'memoryStory', string | undefined>;

/** @returns undefined if the process has ended or is unknown */
export async function readUnended({ driver }: StoreContext, id: string): Promise<DeadProcess | undefined> {
  const [row] = await readShapes<DeadRow>(
    driver,
    `SELECT ${COLUMNS}, in_flight AS "inFlight", blocked, memory_story AS "memoryStory" FROM desk_runs
      WHERE id = ? AND ended IS NULL`,
    [id],
  );
  if (!row) return undefined;
  const { inFlight = '[]', blocked, memoryStory, ...run } = row;
  return {
    ...run,
    // All were written by `storeHeartbeat`.
    inFlight: JSON.parse(inFlight) as readonly InFlightRequest[],
    ...(blocked !== undefined && { blocked: JSON.parse(blocked) as BlockedLoop }),
    ...(memoryStory !== undefined && { memoryStory: JSON.parse(memoryStory) as MemoryStory }),
  };
}

/** Returns the environment of a process, or undefined if it is unknown. */
export async function readEnvironment(
  { driver: sql }: { readonly driver: Sql },
  id: string,
): Promise<string | undefined> {
  const [row] = await sql.all<{ environment: string | null }>('SELECT environment FROM desk_runs WHERE id = ?', [id]);
  return row?.environment ?? undefined;
}

/** Records that a process died. @returns false if it has ended, or another process recorded its death */
export async function claimDead(sql: Sql, id: string): Promise<boolean> {
  const claimed = await sql.run(
    // The incident has the requests in flight.
    "UPDATE desk_runs SET ended = 'unclean', ended_at = beat_at, in_flight = '[]' WHERE id = ? AND ended IS NULL",
    [id],
  );
  return claimed > 0;
}

export function listProcesses({ reader }: Pick<StoreContext, 'reader'>, limit: number): Promise<ProcessRecord[]> {
  return readShapes<ProcessRecord>(reader, `SELECT ${COLUMNS} FROM desk_runs ORDER BY started_at DESC LIMIT ?`, [
    limit,
  ]);
}

export const queries = {
  storeHeartbeat,
  storeLateHeartbeat,
  storeEnd,
  listSilent,
  readUnended,
  readEnvironment,
  listProcesses,
};
