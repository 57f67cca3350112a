import type { IncidentState } from '../../../../shared/desk/shapes.ts';
import { splitKey } from '../incident-key.ts';
import { noteChange } from '../incidents/change-feed.ts';
import { storeChange } from '../incidents/change-log.ts';
import { listDeployments, readEnvironments } from '../servers/environment-table.ts';
import { assignments, type Columns, placeholders, type Sql } from '../sql.ts';
import type { StoreContext } from '../store-context.ts';
import { type ReleaseTally, type Tally, toHour } from './tally.ts';

/** The state of an incident that was just counted. */
export interface CountedRow {
  readonly digest: string;
  readonly state: IncidentState;
  readonly merged_into: string | null;
  readonly merged_count: number;
}

interface StandingRow {
  readonly digest: string;
  readonly state: IncidentState;
  readonly version: number;
  readonly state_at: number;
  readonly resolved_in: 'now' | 'next' | null;
  readonly ignored_growth: number | null;
  readonly ignored_server: number;
  readonly ignored_browser: number;
  readonly family_server: number;
}

/**
 * Reopens incidents that returned after they were resolved, or grew past their ignore limit. If a server has
 * seen the incident, browser reports do not reopen it, because anyone can send them (SPEC section 6). Echoes
 * are not in the tallies.
 */
export async function settleStates(sql: Sql, tallies: readonly Tally[], counted: readonly CountedRow[]): Promise<void> {
  const roots = new Map(
    counted.flatMap(({ digest, state, merged_into }) =>
      merged_into !== null || state !== 'open' ? [[digest, merged_into ?? digest] as const] : [],
    ),
  );
  if (roots.size === 0) return;
  const returned = Map.groupBy(tallies, ({ digest }) => roots.get(digest));
  for (const standing of await readStandings(sql, [...new Set(roots.values())])) {
    const own = returned.get(standing.digest) ?? [];
    if (standing.state === 'resolved') await settleResolved(sql, standing, own);
    if (standing.state === 'ignored') await settleIgnored(sql, standing, own);
  }
}

function readStandings(sql: Sql, digests: readonly string[]): Promise<StandingRow[]> {
  return sql.all<StandingRow>(
    `SELECT i.digest, i.state, i.version, i.state_at, i.resolved_in, i.ignored_growth, i.ignored_server, i.ignored_browser,
      (SELECT SUM(f.server_count) FROM desk_incidents f WHERE f.digest = i.digest OR f.merged_into = i.digest) AS family_server
      FROM desk_incidents i WHERE i.state <> 'open' AND i.digest IN (${placeholders(digests)}) ORDER BY i.digest`,
    digests,
  );
}

async function settleResolved(sql: Sql, standing: StandingRow, tallies: readonly Tally[]): Promise<void> {
  const later = tallies
    .flatMap(({ releases }) => releases)
    .filter((release) => toBelievedTime(release, standing) > standing.state_at);
  const returned = standing.resolved_in === 'next' ? await findFirstPublishedSince(sql, standing, later) : later[0];
  if (!returned) return;
  const { release, build } = returned;
  const at = toBelievedTime(returned, standing);
  const columns = { regressed_at: at, regressed_release: release, untold: 'regressed' };
  await reopen(sql, standing, columns, { action: 'regressed', detail: { release, build } });
}

/** Returns the time of a release's last occurrence that can reopen the incident, or 0. */
function toBelievedTime(release: ReleaseTally, { family_server }: StandingRow): number {
  return family_server > 0 ? release.lastServerAt : release.lastAt;
}

/** Finds a release that is newer than the resolution: none of its builds had been started in the environment then. */
async function findFirstPublishedSince(
  sql: Sql,
  { digest, state_at }: StandingRow,
  releases: readonly ReleaseTally[],
): Promise<ReleaseTally | undefined> {
  if (releases.length === 0) return undefined;
  const { home } = await readEnvironments(sql);
  const builds = await listDeployments({ reader: sql, home }, splitKey(digest).environment ?? home);
  const firstAt = new Map<string, number>();
  for (const { release, firstAt: at } of builds) firstAt.set(release, Math.min(at, firstAt.get(release) ?? at));
  return releases.find(({ release }) => (firstAt.get(release) ?? 0) > state_at);
}

async function settleIgnored(sql: Sql, standing: StandingRow, tallies: readonly Tally[]): Promise<void> {
  if (standing.ignored_growth === null) return;
  const since = toHour(standing.state_at);
  const touched = tallies.flatMap(({ hours }) => hours.map(({ hour }) => hour)).filter((hour) => hour >= since);
  if (touched.length === 0) return;
  const side = standing.family_server > 0 ? 'server' : 'browser';
  const rows = await sql.all<{ hour: number; count: number }>(
    `SELECT hour, SUM(${side}_count) AS count FROM desk_hours WHERE hour IN (${placeholders(touched)}) AND digest IN
      (SELECT f.digest FROM desk_incidents f WHERE f.digest = ? OR f.merged_into = ?) GROUP BY hour`,
    [...touched, standing.digest, standing.digest],
  );
  const before = (hour: number) => (hour === since ? standing[`ignored_${side}`] : 0);
  const grown = rows.map(({ hour, count }) => count - before(hour));
  if (Math.max(...grown) < standing.ignored_growth) return;
  const columns = { untold: 'grown' };
  await reopen(sql, standing, columns, { action: 'grown', detail: { count: Math.max(...grown) } });
}

/** Reopens the version that was read. The author of a later version has already seen this return. */
async function reopen(
  sql: Sql,
  { digest, version }: StandingRow,
  columns: Columns,
  change: { readonly action: 'regressed' | 'grown'; readonly detail: object },
): Promise<void> {
  const changed = await sql.run(
    `UPDATE desk_incidents SET state = 'open', version = version + 1, state_at = ${sql.dialect.now}, state_by = NULL,
      resolved_in = NULL, ignored_until = NULL, ignored_growth = NULL, ${assignments(columns)} WHERE digest = ? AND version = ?`,
    [...Object.values(columns), digest, version],
  );
  if (changed > 0) await storeChange(sql, { digest, author: '', ...change });
}

/** Reopens incidents whose ignore time is over. */
export async function endIgnores({ driver }: StoreContext): Promise<void> {
  await driver.transaction(async (sql) => {
    const over = await sql.all<{ digest: string }>(
      `UPDATE desk_incidents SET state = 'open', version = version + 1, state_at = ${sql.dialect.now}, state_by = NULL,
        ignored_until = NULL, ignored_growth = NULL
        WHERE ignored_until IS NOT NULL AND ignored_until <= ${sql.dialect.now} AND state = 'ignored' RETURNING digest`,
    );
    for (const { digest } of over) {
      await storeChange(sql, { digest, author: '', action: 'ignore-ended', detail: {} });
    }
    if (over.length > 0) await noteChange(sql);
  });
}

export const queries = { endIgnores };
