import type { IncidentState } from '../../../shared/desk/shapes.ts';
import { toDigest } from './incident-key.ts';
import type { Incident } from './records.ts';
import { placeholders, type Sql } from './sql.ts';

export interface IncidentRow {
  /** The key. */
  readonly digest: string;
  readonly environment_name: string;
  readonly rule: number;
  readonly kind: Incident['kind'];
  readonly title: string;
  readonly class: string;
  readonly message: string;
  readonly site_path: string | null;
  readonly site_function: string | null;
  readonly site_detail: string | null;
  readonly site_line: number | null;
  readonly route: string | null;
  readonly weak: number;
  readonly state: IncidentState;
  readonly first_side: Incident['firstSide'];
  readonly first_at: number;
  readonly last_at: number;
  readonly first_release: string;
  readonly first_build: string;
  readonly last_release: string;
  readonly last_build: string;
  readonly server_count: number;
  readonly browser_count: number;
  readonly version: number;
  /** Of all that was merged into it too. */
  readonly visitors: number;
  readonly shape: string | null;
  readonly assignee: string | null;
  /** The incident that stands for it; never one that is merged itself. */
  readonly merged_into: string | null;
  /** How many digests are merged into it. */
  readonly merged_count: number;
  readonly state_at: number;
  readonly state_by: string | null;
  readonly resolved_in: 'now' | 'next' | null;
  readonly ignored_until: number | null;
  readonly ignored_growth: number | null;
  /** What the hour in which it was ignored counted by then. */
  readonly ignored_server: number;
  readonly ignored_browser: number;
  readonly regressed_at: number | null;
  readonly regressed_release: string | null;
}

const COLUMNS = `*, COALESCE(environment, (SELECT value FROM desk_meta WHERE name = 'home_environment')) AS environment_name`;

export async function readIncident(sql: Sql, digest: string): Promise<Incident | undefined> {
  return (await readIncidents(sql, [digest]))[0];
}

/** In the order asked for, each with what was merged into it; without those that are not known. */
export async function readIncidents(sql: Sql, digests: readonly string[]): Promise<Incident[]> {
  if (digests.length === 0) return [];
  const some = placeholders(digests);
  const rows = await sql.all<IncidentRow>(
    `SELECT ${COLUMNS} FROM desk_incidents WHERE digest IN (${some}) UNION ALL
      SELECT ${COLUMNS} FROM desk_incidents WHERE merged_into IN (${some}) AND digest NOT IN (${some})`,
    [...digests, ...digests, ...digests],
  );
  const own = new Map(rows.map((row) => [row.digest, row]));
  const merged = Map.groupBy(rows, (row) => row.merged_into ?? '');
  return digests.flatMap((digest) => {
    const row = own.get(digest);
    return row ? [toIncident(row, merged.get(digest) ?? [])] : [];
  });
}

/** The digests whose occurrences are this incident's: its own, and what was merged into it. */
export async function listFamily(sql: Sql, digest: string): Promise<string[]> {
  const rows = await sql.all<{ digest: string }>(
    'SELECT digest FROM desk_incidents WHERE merged_into = ? AND digest <> ? ORDER BY digest',
    [digest, digest],
  );
  return [digest, ...rows.map((row) => row.digest)];
}

/** The digest that stands for this one; undefined where there is no incident. */
export async function readRoot(sql: Sql, digest: string): Promise<string | undefined> {
  const [row] = await sql.all<{ root: string }>(
    'SELECT COALESCE(merged_into, digest) AS root FROM desk_incidents WHERE digest = ?',
    [digest],
  );
  return row?.root;
}

function toIncident(own: IncidentRow, merged: readonly IncidentRow[]): Incident {
  const all = [own, ...merged];
  const first = all.reduce((found, row) => (row.first_at < found.first_at ? row : found), own);
  const last = all.reduce((found, row) => (row.last_at > found.last_at ? row : found), own);
  return {
    key: own.digest,
    digest: toDigest(own.digest),
    environment: own.environment_name,
    rule: own.rule,
    kind: own.kind,
    title: own.title,
    class: own.class,
    message: own.message,
    ...(own.site_path !== null && {
      site: { path: own.site_path, function: own.site_function ?? '', detail: own.site_detail ?? '' },
    }),
    ...(own.site_line !== null && { siteLine: own.site_line }),
    ...(own.route !== null && { route: own.route }),
    weak: own.weak === 1,
    ...toStanding(own),
    firstSide: first.first_side,
    firstAt: first.first_at,
    lastAt: last.last_at,
    firstRelease: first.first_release,
    firstBuild: first.first_build,
    lastRelease: last.last_release,
    lastBuild: last.last_build,
    counts: {
      server: all.reduce((sum, row) => sum + row.server_count, 0),
      browser: all.reduce((sum, row) => sum + row.browser_count, 0),
    },
    visitors: own.visitors,
    aliases: merged.map(({ digest }) => toDigest(digest)),
  };
}

type Standing = Pick<
  Incident,
  | 'state'
  | 'version'
  | 'stateAt'
  | 'stateBy'
  | 'resolvedIn'
  | 'ignoredUntil'
  | 'ignoredGrowth'
  | 'regressed'
  | 'assignee'
>;

/** What people, or a return, made of it. */
function toStanding(row: IncidentRow): Standing {
  return {
    state: row.state,
    version: row.version,
    ...(row.state_at > 0 && { stateAt: row.state_at }),
    ...(row.state_by !== null && { stateBy: row.state_by }),
    ...(row.resolved_in !== null && { resolvedIn: row.resolved_in }),
    ...(row.ignored_until !== null && { ignoredUntil: row.ignored_until }),
    ...(row.ignored_growth !== null && { ignoredGrowth: row.ignored_growth }),
    ...(row.regressed_at !== null && { regressed: { at: row.regressed_at, release: row.regressed_release ?? '' } }),
    ...(row.assignee !== null && { assignee: row.assignee }),
  };
}
