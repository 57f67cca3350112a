import { Hour } from '../../../../shared/units.ts';
import { FIRST_WHOLES, MAX_OCCURRENCES_PER_HOUR, NEWEST_WHOLES, WHOLES_PER_HOUR } from '../../limits.ts';
import type { CountedHour } from '../notifications/queue-notifications.ts';
import { packWhole, useDictionaries } from '../occurrences/dictionary-table.ts';
import type { StoredFailure } from '../records.ts';
import { insertRows, placeholders, type Sql } from '../sql.ts';
import { toColumn, toOptionalColumn } from '../to-column.ts';
import type { HourTally, Tally } from './tally.ts';

/** Stores the hours and occurrences of a batch, and full records of a sample. */
export async function storeHoursAndOccurrences(
  sql: Sql,
  tallies: readonly Tally[],
): Promise<{ readonly hours: readonly CountedHour[]; readonly full: readonly StoredFailure[] }> {
  const hours = await storeHours(sql, tallies);
  const kept = chooseOccurrences(tallies, hours);
  await storeOccurrences(sql, kept);
  const records = await chooseFullRecords(sql, kept);
  await storeFullRecords(sql, records);
  await storeKept(sql, kept, records);
  await dropOlder(sql, records);
  return { hours: [...hours.values()], full: records.map(({ failure }) => failure) };
}

type HourRow = CountedHour & { readonly kept: number; readonly wholes: number };

/** Fills missing counts of a row with zeros. */
function toHourRow(row: Pick<HourRow, 'digest' | 'hour'> & Partial<HourRow>) {
  return { server_count: 0, browser_count: 0, kept: 0, wholes: 0, ...row };
}

const HOUR_COUNTS = ['server_count', 'browser_count', 'kept', 'wholes'] as const satisfies (keyof HourRow)[];

const ON_KNOWN_HOUR = `ON CONFLICT (digest, hour) DO UPDATE SET ${HOUR_COUNTS.map(
  (name) => `${name} = desk_hours.${name} + excluded.${name}`,
).join(', ')}`;

/** Adds the counts of each hour, and returns the rows. On PostgreSQL, this locks them until the transaction ends. */
async function storeHours(sql: Sql, tallies: readonly Tally[]): Promise<ReadonlyMap<string, HourRow>> {
  const rows = tallies.flatMap(({ digest, hours }) =>
    hours.map(({ hour, server, browser }) => toHourRow({ digest, hour, server_count: server, browser_count: browser })),
  );
  const known = await insertRows<HourRow>(
    sql,
    'desk_hours',
    rows,
    `${ON_KNOWN_HOUR} RETURNING digest, hour, ${HOUR_COUNTS.join(', ')}`,
  );
  return new Map(known.map((row) => [`${row.digest} ${row.hour}`, row]));
}

/** The occurrences of an hour's tally that are kept. */
interface KeptHour {
  readonly tally: Tally;
  readonly hour: HourTally;
  readonly row: HourRow;
  readonly occurrences: HourTally['occurrences'];
}

function chooseOccurrences(tallies: readonly Tally[], known: ReadonlyMap<string, HourRow>): readonly KeptHour[] {
  return tallies.flatMap((tally) =>
    tally.hours.map((hour) => {
      const row = known.get(`${tally.digest} ${hour.hour}`) ?? toHourRow({ digest: tally.digest, hour: hour.hour });
      const room = Math.max(0, MAX_OCCURRENCES_PER_HOUR - row.kept);
      return { tally, hour, row, occurrences: hour.occurrences.slice(0, room) };
    }),
  );
}

async function storeOccurrences(sql: Sql, kept: readonly KeptHour[]): Promise<void> {
  const rows = kept.flatMap(({ occurrences }) =>
    occurrences.map(({ digest, at, side, ...thin }) => ({
      digest,
      occurrence: toColumn(thin.occurrence),
      at,
      side,
      request_id: toOptionalColumn(thin.requestId),
      trace_id: toOptionalColumn(thin.traceId),
      build: toColumn(thin.build),
      release: toColumn(thin.release),
      route: toOptionalColumn(thin.route),
      visitor: toOptionalColumn(thin.visitor),
    })),
  );
  await insertRows(sql, 'desk_occurrences', rows, 'ON CONFLICT (digest, occurrence) DO NOTHING');
}

/**
 * Why an occurrence is kept in full: it is among the first of its incident, in the sample of its hour, among
 * the newest, or a visitor sent feedback about it. Browsers have separate roles, because anyone can send
 * browser events, and they must not displace those of servers.
 */
type FullRecordRole = 'first' | 'spread' | 'latest' | 'browser' | 'browser-latest' | 'said';

interface FullRecord {
  readonly failure: StoredFailure;
  readonly role: FullRecordRole;
  readonly hour: number;
}

const SPREAD_ROLES = { server: 'spread', browser: 'browser' } as const;
const LATEST_ROLES = { server: 'latest', browser: 'browser-latest' } as const;

async function chooseFullRecords(sql: Sql, kept: readonly KeptHour[]): Promise<readonly FullRecord[]> {
  const withWholes = kept.filter(({ tally, occurrences }) =>
    occurrences.some(({ occurrence }) => tally.wholes.has(occurrence)),
  );
  if (withWholes.length === 0) return [];
  const digests = [...new Set(withWholes.map(({ tally }) => tally.digest))];
  const firsts = await countFirsts(sql, digests);
  const ofBrowsers = await countOfBrowsers(sql, digests, Math.min(...withWholes.map(({ hour }) => hour.hour)));
  return withWholes.flatMap(({ tally, occurrences, row }) => {
    const wholes = occurrences.flatMap(({ occurrence }) => tally.wholes.get(occurrence) ?? []);
    const chosen: FullRecord[] = [];
    let roomFirst = Math.max(0, FIRST_WHOLES - (firsts.get(tally.digest) ?? 0));
    const room = {
      server: WHOLES_PER_HOUR - row.wholes,
      browser: WHOLES_PER_HOUR - (ofBrowsers.get(`${tally.digest} ${row.hour}`) ?? 0),
    };
    for (const failure of wholes) {
      const { side } = failure;
      const role = roomFirst > 0 ? 'first' : room[side] > 0 ? SPREAD_ROLES[side] : LATEST_ROLES[side];
      if (roomFirst > 0) roomFirst -= 1;
      else room[side] -= 1;
      chosen.push({ failure, role, hour: row.hour });
    }
    firsts.set(tally.digest, FIRST_WHOLES - roomFirst);
    return (['latest', 'browser-latest'] as const).reduce<readonly FullRecord[]>(keepNewest, chosen);
  });
}

/** Removes the records of a role, except the newest. */
function keepNewest(chosen: readonly FullRecord[], role: FullRecordRole): readonly FullRecord[] {
  const newest = new Set(chosen.filter((one) => one.role === role).slice(-NEWEST_WHOLES));
  return chosen.filter((one) => one.role !== role || newest.has(one));
}

function isLatest(role: FullRecordRole): boolean {
  return role === 'latest' || role === 'browser-latest';
}

/** Counts the full records from browsers by digest and hour. `desk_hours` has the counts of those from servers. */
async function countOfBrowsers(
  sql: Sql,
  digests: readonly string[],
  since: number,
): Promise<ReadonlyMap<string, number>> {
  const rows = await sql.all<{ digest: string; hour: number; count: number }>(
    `SELECT digest, (at / ${Hour}) * ${Hour} AS hour, COUNT(*) AS count FROM desk_wholes
      WHERE role = 'browser' AND digest IN (${placeholders(digests)}) AND at >= ? GROUP BY digest, at / ${Hour}`,
    [...digests, since],
  );
  return new Map(rows.map(({ digest, hour, count }) => [`${digest} ${hour}`, count]));
}

async function countFirsts(sql: Sql, digests: readonly string[]): Promise<Map<string, number>> {
  const rows = await sql.all<{ digest: string; firsts: number }>(
    `SELECT digest, COUNT(*) AS firsts FROM desk_wholes WHERE role = 'first' AND digest IN (${placeholders(digests)}) GROUP BY digest`,
    digests,
  );
  return new Map(rows.map(({ digest, firsts }) => [digest, Number(firsts)]));
}

async function storeFullRecords(sql: Sql, wholes: readonly FullRecord[]): Promise<void> {
  const dictionaries = await useDictionaries(
    sql,
    wholes.map(({ failure }) => failure),
  );
  const rows = wholes.map(({ failure, role }) => ({
    digest: failure.digest,
    occurrence: toColumn(failure.occurrence),
    role,
    at: failure.at,
    data: packWhole(failure, dictionaries),
    shared: 1,
  }));
  await insertRows(sql, 'desk_wholes', rows, 'ON CONFLICT (digest, occurrence) DO NOTHING');
}

async function storeKept(sql: Sql, kept: readonly KeptHour[], wholes: readonly FullRecord[]): Promise<void> {
  const rows = kept
    .filter(({ occurrences }) => occurrences.length > 0)
    .map(({ row: { digest, hour: at }, occurrences }) => {
      const spread = wholes.filter(
        ({ failure, role, hour }) => role === 'spread' && failure.digest === digest && hour === at,
      );
      return toHourRow({ digest, hour: at, kept: occurrences.length, wholes: spread.length });
    });
  await insertRows(sql, 'desk_hours', rows, ON_KNOWN_HOUR);
}

/** Deletes full records that are no longer among the newest. */
async function dropOlder(sql: Sql, wholes: readonly FullRecord[]): Promise<void> {
  const grown = new Set(
    wholes.filter(({ role }) => isLatest(role)).map(({ failure, role }) => `${role} ${failure.digest}`),
  );
  for (const one of grown) {
    const [role = '', digest = ''] = one.split(' ');
    await sql.run(
      `DELETE FROM desk_wholes WHERE digest = ? AND role = ? AND occurrence NOT IN
        (SELECT n.occurrence FROM desk_wholes n WHERE n.digest = ? AND n.role = ? ORDER BY n.at DESC, n.occurrence LIMIT ${NEWEST_WHOLES})`,
      [digest, role, digest, role],
    );
  }
}
