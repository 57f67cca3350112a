import type { IncidentState } from '../../../shared/shapes.ts';
import { storeChange } from '../history-table.ts';
import { type IncidentKey, splitKey } from '../incident-key.ts';
import { toHour } from '../incident-table.ts';
import { assignments, type Columns, placeholders, readNumber, type Sql, toColumn } from '../sql.ts';
import type { BatchIncident, NewOccurrence } from './batch.ts';
import type { CountedIncident } from './store-incidents.ts';

interface ClosedRow {
  readonly key: IncidentKey;
  readonly state: IncidentState;
  readonly version: number;
  readonly state_at: number;
  readonly resolved_in: 'now' | 'next' | null;
  readonly ignored_growth: number | null;
  readonly ignored_server: number;
  readonly ignored_browser: number;
  readonly server_count: number;
}

/**
 * Reopens incidents that returned after they were resolved, or grew past their ignore limit. If a server has seen the
 * incident, browser reports do not reopen it, because anyone can send them.
 */
export async function reopenIncidents(
  sql: Sql,
  incidents: readonly BatchIncident[],
  counted: readonly CountedIncident[],
): Promise<void> {
  const closed = counted.filter(({ state }) => state !== 'open').map(({ key }) => key);
  if (closed.length === 0) return;
  const rows = await sql.all<ClosedRow>(
    `SELECT key, state, version, state_at, resolved_in, ignored_growth, ignored_server, ignored_browser, server_count
      FROM desk_incidents WHERE state <> 'open' AND key IN (${placeholders(closed)}) ORDER BY key`,
    closed,
  );
  for (const row of rows) {
    const { occurrences = [] } = incidents.find(({ key }) => key === row.key) ?? {};
    if (row.state === 'resolved') await reopenResolved(sql, row, occurrences);
    else if (row.ignored_growth !== null) await reopenIgnored(sql, row, row.ignored_growth, occurrences);
  }
}

async function reopenResolved(sql: Sql, row: ClosedRow, occurrences: readonly NewOccurrence[]): Promise<void> {
  const isBelieved = ({ side }: NewOccurrence) => side === 'server' || row.server_count === 0;
  const later = occurrences.filter((occurrence) => isBelieved(occurrence) && occurrence.at > row.state_at);
  const returned = row.resolved_in === 'next' ? await findFirstStartedSince(sql, row, later) : later[0];
  if (!returned) return;
  const { release, build } = returned;
  const columns = { regressed_release: toColumn(release), due_event: 'regressed' };
  if (await reopen(sql, row, columns, { action: 'regressed', detail: { release, build } })) {
    const mark = `UPDATE desk_releases SET regressed_at = ${sql.dialect.now} WHERE key = ? AND release = ?`;
    await sql.run(mark, [row.key, toColumn(release)]);
  }
}

/** Finds an occurrence in a release that is newer than the resolution: no build of it had been started in the environment. */
async function findFirstStartedSince(
  sql: Sql,
  { key, state_at }: ClosedRow,
  occurrences: readonly NewOccurrence[],
): Promise<NewOccurrence | undefined> {
  for (const [release, [first]] of Map.groupBy(occurrences, (occurrence) => occurrence.release)) {
    const startedAt = await readNumber(
      sql,
      `SELECT MIN(d.first_at) AS value FROM desk_deployments d JOIN desk_builds b ON b.id = d.build
        WHERE d.environment = ? AND b.release = ?`,
      [splitKey(key).environment, release],
    );
    if (startedAt > state_at) return first;
  }
  return undefined;
}

async function reopenIgnored(
  sql: Sql,
  row: ClosedRow,
  growth: number,
  occurrences: readonly NewOccurrence[],
): Promise<void> {
  const since = toHour(row.state_at);
  const hours = [...new Set(occurrences.map(({ at }) => toHour(at)))].filter((hour) => hour >= since);
  if (hours.length === 0) return;
  const side = row.server_count > 0 ? 'server' : 'browser';
  const rows = await sql.all<{ hour: number; count: number }>(
    `SELECT hour, ${side}_count AS count FROM desk_hours WHERE key = ? AND hour IN (${placeholders(hours)})`,
    [row.key, ...hours],
  );
  const before = (hour: number) => (hour === since ? row[`ignored_${side}`] : 0);
  const grown = Math.max(...rows.map(({ hour, count }) => count - before(hour)));
  if (grown < growth) return;
  await reopen(sql, row, { due_event: 'frequent' }, { action: 'grown', detail: { count: grown } });
}

/** Reopens the version that was read. The author of a later version has already seen this return. @returns whether it did */
async function reopen(
  sql: Sql,
  { key, version }: ClosedRow,
  columns: Columns,
  change: { readonly action: 'regressed' | 'grown'; readonly detail: object },
): Promise<boolean> {
  const changed = await sql.run(
    `UPDATE desk_incidents SET state = 'open', version = version + 1, state_at = ${sql.dialect.now}, state_by = NULL,
      resolved_in = NULL, ignored_until = NULL, ignored_growth = NULL, ${assignments(columns)} WHERE key = ? AND version = ?`,
    [...Object.values(columns), key, version],
  );
  if (changed > 0) await storeChange(sql, { key, author: '', ...change });
  return changed > 0;
}
