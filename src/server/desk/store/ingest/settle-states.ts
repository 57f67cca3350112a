import type { IncidentState } from '../../../../shared/desk/shapes.ts';
import { storeChange } from '../history-table.ts';
import { type IncidentKey, splitKey } from '../incident-key.ts';
import { toHour } from '../incident-table.ts';
import { assignments, type Columns, placeholders, type Sql } from '../sql.ts';
import type { CountedIncident } from './store-incidents.ts';
import type { ReleaseTally, Tally } from './tally.ts';

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
export async function settleStates(
  sql: Sql,
  tallies: readonly Tally[],
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
    const tally = tallies.find(({ key }) => key === row.key);
    if (!tally) continue;
    if (row.state === 'resolved') await settleResolved(sql, row, tally);
    else if (row.ignored_growth !== null) await settleIgnored(sql, row, row.ignored_growth, tally);
  }
}

async function settleResolved(sql: Sql, row: ClosedRow, { releases }: Tally): Promise<void> {
  const later = releases.filter((release) => toBelievedTime(release, row) > row.state_at);
  const returned = row.resolved_in === 'next' ? await findFirstStartedSince(sql, row, later) : later[0];
  if (!returned) return;
  const { release, build } = returned;
  const columns = {
    regressed_at: toBelievedTime(returned, row),
    regressed_release: release,
    due_event: 'regressed',
  };
  await reopen(sql, row, columns, { action: 'regressed', detail: { release, build } });
}

/** Returns the time of a release's last occurrence that can reopen the incident, or 0. */
function toBelievedTime(release: ReleaseTally, { server_count }: ClosedRow): number {
  return server_count > 0 ? release.lastServerAt : release.lastAt;
}

/** Finds a release that is newer than the resolution: none of its builds had been started in the environment then. */
async function findFirstStartedSince(
  sql: Sql,
  { key, state_at }: ClosedRow,
  releases: readonly ReleaseTally[],
): Promise<ReleaseTally | undefined> {
  for (const release of releases) {
    const [row] = await sql.all<{ first_at: number | null }>(
      `SELECT MIN(d.first_at) AS first_at FROM desk_deployments d JOIN desk_builds b ON b.id = d.build
        WHERE d.environment = ? AND b.release = ?`,
      [splitKey(key).environment, release.release],
    );
    if ((row?.first_at ?? 0) > state_at) return release;
  }
  return undefined;
}

async function settleIgnored(sql: Sql, row: ClosedRow, growth: number, tally: Tally): Promise<void> {
  const since = toHour(row.state_at);
  const hours = tally.hours.map(({ hour }) => hour).filter((hour) => hour >= since);
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

/** Reopens the version that was read. The author of a later version has already seen this return. */
async function reopen(
  sql: Sql,
  { key, version }: ClosedRow,
  columns: Columns,
  change: { readonly action: 'regressed' | 'grown'; readonly detail: object },
): Promise<void> {
  const changed = await sql.run(
    `UPDATE desk_incidents SET state = 'open', version = version + 1, state_at = ${sql.dialect.now}, state_by = NULL,
      resolved_in = NULL, ignored_until = NULL, ignored_growth = NULL, ${assignments(columns)} WHERE key = ? AND version = ?`,
    [...Object.values(columns), key, version],
  );
  if (changed > 0) await storeChange(sql, { key, author: '', ...change });
}
