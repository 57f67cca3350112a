import { SIDES } from '../../../shared/choices.ts';
import { FULL_PER_HOUR, MAX_OCCURRENCES_PER_HOUR } from '../../desk-limits.ts';
import type { IncidentKey } from '../incident-key.ts';
import { toHour } from '../incident-table.ts';
import { packPayload } from '../occurrence-table.ts';
import type { StoredFailure } from '../records.ts';
import { insertRows, placeholders, type Sql, toColumn, toOptionalColumn } from '../sql.ts';
import type { BatchIncident, NewOccurrence } from './batch.ts';

/** What an hour of an incident has stored so far. */
interface HourRow {
  readonly key: IncidentKey;
  readonly hour: number;
  readonly server_count: number;
  readonly browser_count: number;
  readonly server_full: number;
  readonly browser_full: number;
}

/** The occurrences of an hour in a batch. Those that the hour has no room for are only counted. */
interface BatchHour {
  readonly key: IncidentKey;
  readonly hour: number;
  readonly all: readonly NewOccurrence[];
  readonly stored: readonly NewOccurrence[];
  readonly full: ReadonlySet<NewOccurrence>;
}

/** A full record that was stored. */
interface FullRecord {
  readonly key: IncidentKey;
  readonly failure: StoredFailure;
}

/**
 * Stores the hours and occurrences of a batch, and full records of a sample. The incidents must be locked.
 *
 * @returns the full records
 */
export async function storeOccurrences(sql: Sql, incidents: readonly BatchIncident[]): Promise<readonly FullRecord[]> {
  const known = await readHours(sql, incidents);
  const hours = incidents.flatMap(({ key, occurrences }) =>
    [...Map.groupBy(occurrences, ({ at }) => toHour(at))].map(([hour, all]) =>
      choose({ key, hour, all }, known.get(`${key} ${hour}`)),
    ),
  );
  await storeHours(sql, hours);
  await storeVisitors(sql, hours);
  await insertOccurrences(sql, hours);
  return hours.flatMap(({ key, full }) =>
    [...full].flatMap(({ full: failure }) => (failure ? [{ key, failure }] : [])),
  );
}

async function readHours(sql: Sql, incidents: readonly BatchIncident[]): Promise<ReadonlyMap<string, HourRow>> {
  const keys = incidents.map(({ key }) => key);
  const hours = [...new Set(incidents.flatMap(({ occurrences }) => occurrences.map(({ at }) => toHour(at))))];
  const rows = await sql.all<HourRow>(
    `SELECT key, hour, server_count, browser_count, server_full, browser_full FROM desk_hours
      WHERE key IN (${placeholders(keys)}) AND hour IN (${placeholders(hours)})`,
    [...keys, ...hours],
  );
  return new Map(rows.map((row) => [`${row.key} ${row.hour}`, row]));
}

/**
 * Chooses as many occurrences as the hour has room for. Servers and browsers have separate room, because anyone can send
 * browser events, and they must not displace those of servers.
 */
function choose(hour: Pick<BatchHour, 'key' | 'hour' | 'all'>, row: HourRow | undefined): BatchHour {
  const sides = SIDES.map((side) => {
    const stored = hour.all
      .filter((one) => one.side === side)
      .slice(0, Math.max(0, MAX_OCCURRENCES_PER_HOUR - (row?.[`${side}_count`] ?? 0)));
    const room = Math.max(0, FULL_PER_HOUR - (row?.[`${side}_full`] ?? 0));
    return { stored, full: stored.filter(({ full }) => full).slice(0, room) };
  });
  return {
    ...hour,
    stored: sides.flatMap(({ stored }) => stored),
    full: new Set(sides.flatMap(({ full }) => full)),
  };
}

const HOUR_COUNTS = ['server_count', 'browser_count', 'server_full', 'browser_full'];

async function storeHours(sql: Sql, hours: readonly BatchHour[]): Promise<void> {
  const count = (some: Iterable<NewOccurrence>, side: string) => [...some].filter((one) => one.side === side).length;
  const rows = hours.map(({ key, hour, all, full }) => ({
    key,
    hour,
    server_count: count(all, 'server'),
    browser_count: count(all, 'browser'),
    server_full: count(full, 'server'),
    browser_full: count(full, 'browser'),
  }));
  const sums = HOUR_COUNTS.map((name) => `${name} = desk_hours.${name} + excluded.${name}`).join(', ');
  await insertRows(sql, 'desk_hours', rows, `ON CONFLICT (key, hour) DO UPDATE SET ${sums}`);
}

/** Adds the visitors that an incident did not have yet to its number. Call it before the occurrences are inserted. */
async function storeVisitors(sql: Sql, hours: readonly BatchHour[]): Promise<void> {
  const seen = new Map(
    hours.flatMap(({ key, stored }) =>
      stored.flatMap(({ visitor }) => (visitor ? [[`${key} ${visitor}`, { key, visitor }] as const] : [])),
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

async function insertOccurrences(sql: Sql, hours: readonly BatchHour[]): Promise<void> {
  const rows = hours.flatMap(({ key, stored, full }) =>
    stored.map((occurrence) => ({
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
