import type { InFlightRequest } from '../../engine/connection/in-flight.ts';
import type { Beat, BlockedLoop, MemoryStory } from '../worker/processes/heartbeat.ts';
import type { Run } from './records.ts';
import type { Sql, SqlDialect, SqlValue } from './sql.ts';

/** What a dead process left of itself. */
export interface DeadRun extends Run {
  readonly inFlight: readonly InFlightRequest[];
  /** Set where its main thread stood still when it was last heard of. */
  readonly blocked?: BlockedLoop;
  readonly memoryStory?: MemoryStory;
}

export interface RunStart {
  readonly id: string;
  readonly build: string;
  readonly release: string;
  readonly environment?: string | undefined;
}

/** What a heartbeat tells beside what the main thread said. */
export interface StoredBeat extends Beat {
  readonly startedAt: number;
  readonly blocked?: BlockedLoop | undefined;
  /** Undefined where it is as it was written before. */
  readonly memoryStory?: MemoryStory | undefined;
}

/** A run that was counted as dead and beats again was only cut off from the store: it is alive. */
export async function storeBeat(sql: Sql, dialect: SqlDialect, run: RunStart, beat: StoredBeat): Promise<void> {
  const { now } = dialect;
  const values: SqlValue[] = [run.id, run.build, run.release, beat.startedAt, beat.memory];
  const texts = [
    JSON.stringify(beat.inFlight),
    beat.blocked ? JSON.stringify(beat.blocked) : null,
    run.environment ?? null,
    toStoryText(beat),
  ];
  await sql.run(
    `INSERT INTO desk_runs (id, build, release, started_at, memory, in_flight, blocked, environment, memory_story, beat_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ${now})
      ON CONFLICT (id) DO UPDATE SET memory = excluded.memory, in_flight = excluded.in_flight,
        blocked = excluded.blocked, beat_at = excluded.beat_at, ended = NULL, ended_at = NULL,
        memory_story = COALESCE(excluded.memory_story, desk_runs.memory_story)`,
    [...values, ...texts],
  );
}

/** What a process wrote down beside its journal, because the store was away until it died. */
export interface LateBeat extends RunStart, StoredBeat {
  readonly beatAt: number;
  /** It ended on purpose. */
  readonly isEnd: boolean;
}

/** Only where the store never heard of the run. */
export async function storeLateBeat(sql: Sql, late: LateBeat): Promise<void> {
  const blocked = late.blocked ? JSON.stringify(late.blocked) : null;
  await sql.run(
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

function toStoryText({ memoryStory }: StoredBeat): string | null {
  return memoryStory ? JSON.stringify(memoryStory) : null;
}

export async function storeEnd(sql: Sql, dialect: SqlDialect, id: string): Promise<void> {
  await sql.run(`UPDATE desk_runs SET ended = 'clean', ended_at = ${dialect.now}, in_flight = '[]' WHERE id = ?`, [id]);
}

/** Runs that did not say that they end, and were not heard of for this long (ms). */
export async function listSilent(sql: Sql, dialect: SqlDialect, forMs: number): Promise<string[]> {
  const rows = await sql.all<{ id: string }>(
    `SELECT id FROM desk_runs WHERE ended IS NULL AND beat_at <= ${dialect.now} - ? ORDER BY id`,
    [forMs],
  );
  return rows.map(({ id }) => id);
}

interface RunRow {
  readonly id: string;
  readonly build: string;
  readonly release: string;
  readonly started_at: number;
  readonly beat_at: number;
  readonly ended_at: number | null;
  readonly ended: 'clean' | 'unclean' | null;
  readonly memory: number;
  readonly in_flight: string;
  readonly blocked: string | null;
  readonly memory_story: string | null;
}

/** @returns undefined where the run ended, or is not known */
export async function readUnended(sql: Sql, id: string): Promise<DeadRun | undefined> {
  const [row] = await sql.all<RunRow>('SELECT * FROM desk_runs WHERE id = ? AND ended IS NULL', [id]);
  return row && toDeadRun(row);
}

/** Undefined where it is not known, or the run did not say. */
export async function readEnvironment(sql: Sql, id: string): Promise<string | undefined> {
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

export async function listRuns(sql: Sql, limit: number): Promise<Run[]> {
  const rows = await sql.all<RunRow>('SELECT * FROM desk_runs ORDER BY started_at DESC LIMIT ?', [limit]);
  return rows.map(toRun);
}

function toRun(row: RunRow): Run {
  return {
    id: row.id,
    build: row.build,
    release: row.release,
    startedAt: row.started_at,
    beatAt: row.beat_at,
    ...(row.ended_at !== null && { endedAt: row.ended_at }),
    ...(row.ended !== null && { ended: row.ended }),
    memory: row.memory,
  };
}

function toDeadRun(row: RunRow): DeadRun {
  // All were written by `storeBeat`.
  const blocked = row.blocked === null ? undefined : (JSON.parse(row.blocked) as BlockedLoop);
  const inFlight = JSON.parse(row.in_flight) as readonly InFlightRequest[];
  const memoryStory = row.memory_story === null ? undefined : (JSON.parse(row.memory_story) as MemoryStory);
  return { ...toRun(row), inFlight, ...(blocked && { blocked }), ...(memoryStory && { memoryStory }) };
}
