import { existsSync, readdirSync, statSync } from 'node:fs';
import { toCount, toDuration, toExactTime, toPlural } from '../../../shared/desk/words.ts';
import { Minute, Second } from '../../../shared/units.ts';
import { openPostgres } from '../../desk/store/postgres.ts';
import type { Run } from '../../desk/store/records.ts';
import { listRuns } from '../../desk/store/run-table.ts';
import { type Sql, type SqlDriver, StoreAwayError } from '../../desk/store/sql.ts';
import { openMadeSqlite } from '../../desk/store/sqlite.ts';
import { toJournals } from '../../desk/terminal/list-journals.ts';
import { toSqlitePath } from '../../desk/terminal/open-made-store.ts';
import { type Finding, toOk, toUnknown } from '../finding.ts';

/** How long a question to PostgreSQL may take (ms). */
const QUERY_PATIENCE = 5 * Second;
/** Clocks that are set by the network differ by less (ms); by more, what happened first cannot be told any more. */
const SMALL_SKEW = 2 * Second;
const LARGE_SKEW = 1 * Minute;
/** Runs that are looked at (a count). */
const MAX_RUNS = 1000;
/** The folder is made in the moment in which a first run begins: what is older was there before it (ms). */
const START_TIME = 10 * Second;

export interface StoreOptions {
  /** Absolute. */
  readonly dataDir: string;
  /** Undefined for SQLite in `dataDir`. */
  readonly databaseUrl: string | undefined;
}

export async function checkStore({ dataDir, databaseUrl }: StoreOptions): Promise<Finding[]> {
  if (databaseUrl !== undefined) return checkPostgres(databaseUrl, dataDir);
  const path = toSqlitePath(dataDir);
  if (!existsSync(path)) {
    return [
      toOk('Store', 'SQLite; the first start makes it.'),
      toUnknown(SURVIVAL, 'No server has started with this folder.'),
    ];
  }
  let driver: SqlDriver | undefined;
  try {
    driver = openMadeSqlite(path);
    const runs = await listRuns(driver, MAX_RUNS);
    return [toOk('Store', 'SQLite, and it can be read.'), judgeSurvival(runs)];
  } catch (error) {
    const found = `desk.sqlite cannot be used: ${toReason(error)}`;
    const advice = 'A start sets it aside and begins a new one. Restore a backup: npm run desk -- restore <file>';
    return [{ about: 'Store', mark: 'wrong', found, advice }];
  } finally {
    await driver?.close();
  }
}

async function checkPostgres(databaseUrl: string, dataDir: string): Promise<Finding[]> {
  const about = 'Store';
  const survival = judgeFolderAge(dataDir);
  const driver = openPostgres(databaseUrl, { queryTimeout: QUERY_PATIENCE });
  try {
    const skew = await measureSkew(driver, driver.dialect.now);
    return [toOk(about, 'PostgreSQL answers.'), judgeSkew(skew), survival];
  } catch (error) {
    const advice =
      'Look at DESK_DATABASE_URL, and whether the database can be reached from here. Pages are served without it.';
    return [{ about, mark: 'wrong', found: toReason(error), advice }, survival];
  } finally {
    await driver.close();
  }
}

function toReason(error: unknown): string {
  if (error instanceof StoreAwayError) return error.message;
  return error instanceof Error ? error.message : String(error);
}

/** How far the store's clock is ahead of this one (ms), and how exactly that is known. */
export interface Skew {
  readonly ms: number;
  readonly within: number;
}

async function measureSkew(sql: Sql, now: string): Promise<Skew> {
  await sql.all('SELECT 1 AS one'); // the connection
  const before = Date.now();
  const [row] = await sql.all<{ now: number }>(`SELECT ${now} AS now`);
  const after = Date.now();
  return { ms: (row?.now ?? 0) - (before + after) / 2, within: (after - before) / 2 };
}

export function judgeSkew({ ms, within }: Skew): Finding {
  const about = 'Clock';
  const size = Math.max(0, Math.abs(ms) - within);
  if (size <= SMALL_SKEW) return toOk(about, 'This machine and PostgreSQL have the same time.');
  return {
    about,
    mark: size > LARGE_SKEW ? 'wrong' : 'warning',
    found: `This machine is ${toDuration(size)} ${ms > 0 ? 'behind' : 'ahead of'} PostgreSQL: times of failures and ends of sessions are off.`,
    advice: 'Set both by the network (NTP).',
  };
}

const SURVIVAL = 'Survived the last restart';

/** The store lies in the folder: what it knows from before the last start, it knows because the folder was kept. */
export function judgeSurvival(runs: readonly Pick<Run, 'startedAt'>[]): Finding {
  const [last, before] = runs.map(({ startedAt }) => startedAt).sort((one, other) => other - one);
  if (last === undefined) return toUnknown(SURVIVAL, 'The store knows of no start yet.');
  if (before === undefined) {
    return toUnknown(
      SURVIVAL,
      `The store knows one start alone (${toExactTime(last)}). If there were others, DATA_DIR did not survive the last one; otherwise restart once and look again.`,
    );
  }
  return toOk(
    SURVIVAL,
    `DATA_DIR was kept: of ${runs.length === MAX_RUNS ? `more than ${toCount(MAX_RUNS)}` : toPlural(runs.length, 'start')} the last one was ${toExactTime(last)}, and the store knows what was before.`,
  );
}

/**
 * With PostgreSQL the folder has little in it: whether it is older than the run whose journal it holds.
 *
 * @param runStarts when those begin whose journals or locks are there (ms since 1970)
 */
export function judgeAge(madeAt: number, runStarts: readonly number[]): Finding {
  const last = Math.max(...runStarts);
  if (runStarts.length === 0)
    return toUnknown(SURVIVAL, 'No server has left anything in DATA_DIR by which it could be known.');
  if (last - madeAt > START_TIME) {
    return toOk(
      SURVIVAL,
      `DATA_DIR was kept: it is from ${toExactTime(madeAt)}, and the last start was ${toExactTime(last)}.`,
    );
  }
  return toUnknown(
    SURVIVAL,
    `DATA_DIR is as old as the last start (${toExactTime(last)}). If there were others, it did not survive that one; otherwise restart once and look again.`,
  );
}

function judgeFolderAge(dataDir: string): Finding {
  const journals = toJournals(dataDir);
  const made = statSync(journals, { throwIfNoEntry: false })?.birthtimeMs ?? 0;
  // Not every file system knows it.
  if (made === 0) return judgeAge(0, []);
  return judgeAge(made, listRunStarts(journals));
}

/** A run's id begins with the time of its start; while it lives there is a lock of that name. */
function listRunStarts(journals: string): number[] {
  return readdirSync(journals).flatMap((name) => {
    const start = /^([0-9a-z]{8})-[0-9a-f]{8}(?:\.lock)?$/.exec(name)?.[1];
    return start === undefined ? [] : [Number.parseInt(start, 36)];
  });
}
