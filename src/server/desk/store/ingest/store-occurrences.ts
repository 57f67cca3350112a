import { FULL_PER_HOUR, MAX_OCCURRENCES_PER_HOUR } from '../../limits.ts';
import type { IncidentKey } from '../incident-key.ts';
import { packPayload } from '../occurrence-table.ts';
import type { StoredFailure } from '../records.ts';
import { insertRows, type Sql, toColumn, toOptionalColumn } from '../sql.ts';
import type { BatchOccurrence, Tally } from './tally.ts';

interface HourRow {
  readonly key: IncidentKey;
  readonly hour: number;
  readonly stored: number;
  readonly server_full: number;
  readonly browser_full: number;
}

/** The occurrences of an hour that are stored, and those of them that are stored in full. */
interface ChosenHour {
  readonly row: HourRow;
  readonly occurrences: readonly BatchOccurrence[];
  readonly full: ReadonlySet<BatchOccurrence>;
}

/** A full record that was stored. */
interface FullRecord {
  readonly key: IncidentKey;
  readonly failure: StoredFailure;
}

/** Stores the hours and occurrences of a batch, and full records of a sample. @returns the full records */
export async function storeOccurrences(sql: Sql, tallies: readonly Tally[]): Promise<readonly FullRecord[]> {
  const rows = await addToHours(
    sql,
    tallies.flatMap(({ key, hours }) =>
      hours.map(({ hour, server, browser }) => ({ key, hour, server_count: server, browser_count: browser })),
    ),
  );
  const known = new Map(rows.map((row) => [`${row.key} ${row.hour}`, row]));
  const chosen = tallies.flatMap(({ key, hours }) =>
    hours.flatMap(({ hour, occurrences }) => {
      const row = known.get(`${key} ${hour}`);
      return row && occurrences.length > 0 ? [choose(row, occurrences)] : [];
    }),
  );
  await storeVisitors(sql, chosen);
  await insertOccurrences(sql, chosen);
  await addToHours(
    sql,
    chosen.map(({ row: { key, hour }, occurrences, full }) => {
      const ofServers = [...full].filter(({ side }) => side === 'server').length;
      return { key, hour, stored: occurrences.length, server_full: ofServers, browser_full: full.size - ofServers };
    }),
  );
  return chosen.flatMap(({ row: { key }, full }) =>
    [...full].flatMap(({ full: failure }) => (failure ? [{ key, failure }] : [])),
  );
}

const HOUR_COUNTS = ['server_count', 'browser_count', 'stored', 'server_full', 'browser_full'] as const;

/** Adds counts to hours, and returns the rows. On PostgreSQL, this locks them until the transaction ends. */
function addToHours(
  sql: Sql,
  counts: readonly ({ readonly key: IncidentKey; readonly hour: number } & Partial<
    Record<(typeof HOUR_COUNTS)[number], number>
  >)[],
): Promise<HourRow[]> {
  const none = Object.fromEntries(HOUR_COUNTS.map((name) => [name, 0]));
  return insertRows<HourRow>(
    sql,
    'desk_hours',
    counts.map(({ key, hour, ...more }) => ({ key, hour, ...none, ...more })),
    `ON CONFLICT (key, hour) DO UPDATE SET
      ${HOUR_COUNTS.map((name) => `${name} = desk_hours.${name} + excluded.${name}`).join(', ')}
      RETURNING key, hour, stored, server_full, browser_full`,
  );
}

/**
 * Chooses as many occurrences as the hour has room for. Servers and browsers have separate room for full records, because
 * anyone can send browser events, and they must not displace those of servers.
 */
function choose(row: HourRow, all: readonly BatchOccurrence[]): ChosenHour {
  const occurrences = all.slice(0, Math.max(0, MAX_OCCURRENCES_PER_HOUR - row.stored));
  const ofSide = (side: 'server' | 'browser') =>
    occurrences
      .filter((one) => one.full && one.side === side)
      .slice(0, Math.max(0, FULL_PER_HOUR - row[`${side}_full`]));
  return { row, occurrences, full: new Set([...ofSide('server'), ...ofSide('browser')]) };
}

/** Adds the visitors that an incident did not have yet to its number. Call it before the occurrences are inserted. */
async function storeVisitors(sql: Sql, chosen: readonly ChosenHour[]): Promise<void> {
  const seen = new Map(
    chosen.flatMap(({ row: { key }, occurrences }) =>
      occurrences.flatMap(({ visitor }) => (visitor ? [[`${key} ${visitor}`, { key, visitor }] as const] : [])),
    ),
  );
  if (seen.size === 0) return;
  const pairs = [...seen.values()];
  const known = await sql.all<{ key: IncidentKey; visitor: string }>(
    `SELECT DISTINCT key, visitor FROM desk_occurrences WHERE (visitor, key) IN (VALUES ${pairs.map(() => '(?, ?)').join(', ')})`,
    pairs.flatMap(({ key, visitor }) => [visitor, key]),
  );
  for (const { key, visitor } of known) seen.delete(`${key} ${visitor}`);
  for (const [key, group] of Map.groupBy(seen.values(), ({ key }) => key)) {
    await sql.run('UPDATE desk_incidents SET visitors = visitors + ? WHERE key = ?', [group.length, key]);
  }
}

async function insertOccurrences(sql: Sql, chosen: readonly ChosenHour[]): Promise<void> {
  const rows = chosen.flatMap(({ row: { key }, occurrences, full }) =>
    occurrences.map((occurrence) => ({
      key,
      occurrence: toColumn(occurrence.occurrence),
      at: occurrence.at,
      side: occurrence.side,
      build: toColumn(occurrence.build),
      release: toColumn(occurrence.release),
      route: toOptionalColumn(occurrence.route),
      request_id: toOptionalColumn(occurrence.requestId),
      trace_id: toOptionalColumn(occurrence.traceId),
      visitor: toOptionalColumn(occurrence.visitor),
      payload: occurrence.full && full.has(occurrence) ? packPayload(occurrence.full) : null,
    })),
  );
  await insertRows(sql, 'desk_occurrences', rows, 'ON CONFLICT (key, occurrence) DO NOTHING');
}
