import type { InFlightRequest } from '../../../engine/connection/in-flight.ts';
import type { BlockedLoop, Heartbeat, MemoryStory } from '../../worker/processes/heartbeat.ts';
import type { ProcessRecord } from '../records.ts';
import { readShapes, type Sql, type SqlValue } from '../sql.ts';
import type { StoreContext } from '../store-context.ts';

/** What a dead process left of itself. */
export interface DeadProcess extends ProcessRecord {
  readonly inFlight: readonly InFlightRequest[];
  /** Set where its main thread stood still when it was last heard of. */
  readonly blocked?: BlockedLoop;
  readonly memoryStory?: MemoryStory;
}

export interface ProcessStart {
  readonly id: string;
  readonly build: string;
  readonly release: string;
  readonly environment?: string | undefined;
}

/** What a heartbeat tells beside what the main thread said. */
interface StoredHeartbeat extends Heartbeat {
  readonly startedAt: number;
  readonly blocked?: BlockedLoop | undefined;
  /** Undefined where it is as it was written before. */
  readonly memoryStory?: MemoryStory | undefined;
}

/** A run that was counted as dead and beats again was only cut off from the store: it is alive. */
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

/** What a process wrote down beside its journal, because the store was away until it died. */
export interface LateHeartbeat extends ProcessStart, StoredHeartbeat {
  readonly beatAt: number;
  /** It ended on purpose. */
  readonly isEnd: boolean;
}

/** Only where the store never heard of the run. */
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

/** Processes that did not say that they end, and were not heard of for this long (ms). */
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

/** @returns undefined where the run ended, or is not known */
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

/** Undefined where it is not known, or the run did not say. */
export async function readEnvironment(
  { driver: sql }: { readonly driver: Sql },
  id: string,
): Promise<string | undefined> {
  const [row] = await sql.all<{ environment: string | null }>('SELECT environment FROM desk_runs WHERE id = ?', [id]);
  return row?.environment ?? undefined;
}

/** @returns false where the run has ended by now, or somebody else told */
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
