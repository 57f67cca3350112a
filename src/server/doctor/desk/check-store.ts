import { existsSync, readdirSync, statSync } from 'node:fs';
import { Minute, Second } from '../../../shared/units.ts';
import { toCount, toDuration, toExactTime, toPlural } from '../../../shared/words.ts';
import { openPostgres } from '../../desk/store/postgres.ts';
import { listProcesses } from '../../desk/store/servers/process-table.ts';
import type { SqlDriver } from '../../desk/store/sql.ts';
import { openMadeSqlite } from '../../desk/store/sqlite.ts';
import { toJournals } from '../../desk/terminal/list-journals.ts';
import { toSqlitePath } from '../../desk/terminal/open-made-store.ts';
import { type Finding, ok, toFinding, unknown, type Verdict, warning, wrong } from '../finding.ts';

/** How long a query on PostgreSQL can take (ms). */
const QUERY_TIMEOUT = 5 * Second;
/** Clocks with NTP differ by less (ms). */
const SMALL_SKEW = 2 * Second;
/** Above this, the order of events is lost (ms). */
const LARGE_SKEW = 1 * Minute;
/** The most starts that are counted. */
const MAX_STARTS = 1000;
/**
 * The first start creates the folder. If the folder is older than a start by more than this, it existed before (ms).
 */
const START_TIME = 10 * Second;

export interface StoreOptions {
  /** Absolute. */
  readonly dataDir: string;
  /** Undefined for SQLite in `dataDir`. */
  readonly databaseUrl: string | undefined;
}

export async function checkStore({ dataDir, databaseUrl }: StoreOptions): Promise<Finding[]> {
  const verdicts =
    databaseUrl === undefined ? await checkSqlite(toSqlitePath(dataDir)) : await checkPostgres(databaseUrl, dataDir);
  return Object.entries(verdicts).map(([about, verdict]) => toFinding(about, verdict));
}

type Verdicts = Readonly<Record<string, Verdict>>;

async function checkSqlite(path: string): Promise<Verdicts> {
  if (!existsSync(path)) {
    return {
      Store: ok('SQLite. The first start creates it.'),
      'Kept by restarts': unknown('No server has started with this folder.'),
    };
  }
  let driver: SqlDriver | undefined;
  try {
    driver = openMadeSqlite(path);
    const starts = (await listProcesses(driver, MAX_STARTS)).map(({ startedAt }) => startedAt);
    return { Store: ok('SQLite. It can be read.'), 'Kept by restarts': judgeStarts(starts) };
  } catch (error) {
    return {
      Store: wrong(
        `desk.sqlite cannot be used: ${toMessage(error)}`,
        'A start moves it aside and creates a new one. Restore a backup: npm run desk -- restore <file>',
      ),
    };
  } finally {
    await driver?.close();
  }
}

async function checkPostgres(databaseUrl: string, dataDir: string): Promise<Verdicts> {
  const kept = { 'Kept by restarts': judgeFolder(dataDir) };
  const driver = openPostgres(databaseUrl, { queryTimeout: QUERY_TIMEOUT });
  try {
    return { Store: ok('PostgreSQL answers.'), Clock: judgeSkew(await measureSkew(driver)), ...kept };
  } catch (error) {
    const advice = 'Check DESK_DATABASE_URL, and that the database can be reached from here. Pages work without it.';
    return { Store: wrong(toMessage(error), advice), ...kept };
  } finally {
    await driver.close();
  }
}

function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** How far the store's clock is ahead of this machine's clock, and the uncertainty (ms). */
export interface Skew {
  readonly ms: number;
  readonly within: number;
}

async function measureSkew(driver: SqlDriver): Promise<Skew> {
  await driver.all('SELECT 1 AS one'); // connects
  const before = Date.now();
  const [row] = await driver.all<{ now: number }>(`SELECT ${driver.dialect.now} AS now`);
  const after = Date.now();
  return { ms: (row?.now ?? 0) - (before + after) / 2, within: (after - before) / 2 };
}

export function judgeSkew({ ms, within }: Skew): Verdict {
  const size = Math.max(0, Math.abs(ms) - within);
  if (size <= SMALL_SKEW) return ok('This machine and PostgreSQL have the same time.');
  const judged = size > LARGE_SKEW ? wrong : warning;
  return judged(
    `This machine is ${toDuration(size)} ${ms > 0 ? 'behind' : 'ahead of'} PostgreSQL: times of failures and the end of sessions are wrong.`,
    'Synchronize both clocks with NTP.',
  );
}

/**
 * SQLite is in the folder, so it knows earlier starts only if the folder was kept.
 *
 * @param starts milliseconds since 1970, in any order
 */
export function judgeStarts(starts: readonly number[]): Verdict {
  if (starts.length === 0) return unknown('The store has not recorded any start.');
  const last = toExactTime(Math.max(...starts));
  if (starts.length === 1) return unknown(`The store has recorded only one start (${last}). ${RESTART}`);
  const count = starts.length === MAX_STARTS ? `more than ${toCount(MAX_STARTS)}` : toPlural(starts.length, 'start');
  return ok(`The store has recorded ${count}, the last one at ${last}.`);
}

const RESTART =
  'If there were earlier starts, DATA_DIR was lost before the last one. If not, restart once and run this command again.';

/**
 * With PostgreSQL, the folder was kept if it is older than the last start.
 *
 * @param createdAt milliseconds since 1970
 * @param starts of the processes whose journals or locks are in the folder
 */
export function judgeAge(createdAt: number, starts: readonly number[]): Verdict {
  if (starts.length === 0) return unknown('No server has left data in DATA_DIR.');
  const last = Math.max(...starts);
  if (last - createdAt <= START_TIME)
    return unknown(`DATA_DIR is as old as the last start (${toExactTime(last)}). ${RESTART}`);
  return ok(`DATA_DIR is from ${toExactTime(createdAt)}, and the last start was at ${toExactTime(last)}.`);
}

function judgeFolder(dataDir: string): Verdict {
  const journals = toJournals(dataDir);
  const createdAt = statSync(journals, { throwIfNoEntry: false })?.birthtimeMs ?? 0;
  // Some file systems do not record it.
  return judgeAge(createdAt, createdAt === 0 ? [] : listStarts(journals));
}

/**
 * Returns the start times of processes. The id of a process begins with its start time. A running process has a lock
 * with its id.
 */
function listStarts(journals: string): number[] {
  return readdirSync(journals).flatMap((name) => {
    const start = /^([0-9a-z]{8})-[0-9a-f]{8}(?:\.lock)?$/.exec(name)?.[1];
    return start === undefined ? [] : [Number.parseInt(start, 36)];
  });
}
