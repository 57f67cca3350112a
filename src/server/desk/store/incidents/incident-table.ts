import { toDigest } from '../incident-key.ts';
import type { Incident } from '../records.ts';
import { placeholders, readShapes, type Sql } from '../sql.ts';

/** An incident without those merged into it. */
interface IncidentRow extends Omit<Incident, 'digest' | 'site' | 'weak' | 'regressed' | 'counts' | 'aliases'> {
  readonly locationPath?: string;
  readonly locationFunction?: string;
  readonly locationDetail?: string;
  readonly weak: number;
  readonly server: number;
  readonly browser: number;
  readonly regressedAt?: number;
  readonly regressedRelease?: string;
  /** The incident that it was merged into. That one is never merged itself. */
  readonly mergedInto?: string;
}

const COLUMNS = `digest AS key,
  COALESCE(environment, (SELECT value FROM desk_meta WHERE name = 'home_environment')) AS environment,
  rule, kind, title, class, message, site_path AS "locationPath", site_function AS "locationFunction",
  site_detail AS "locationDetail", site_line AS "locationLine", route, weak, state, version, NULLIF(state_at, 0) AS "stateAt",
  state_by AS "stateBy", resolved_in AS "resolvedIn", ignored_until AS "ignoredUntil",
  ignored_growth AS "ignoredGrowth", regressed_at AS "regressedAt", regressed_release AS "regressedRelease", assignee,
  first_side AS "firstSide", first_at AS "firstAt", last_at AS "lastAt", first_release AS "firstRelease",
  first_build AS "firstBuild", last_release AS "lastRelease", last_build AS "lastBuild", server_count AS server,
  browser_count AS browser, visitors, merged_into AS "mergedInto"`;

export async function readIncident(sql: Sql, digest: string): Promise<Incident | undefined> {
  return (await readIncidents(sql, [digest]))[0];
}

/** Returns incidents in the given order, each with those merged into it. Unknown digests are left out. */
export async function readIncidents(sql: Sql, digests: readonly string[]): Promise<Incident[]> {
  if (digests.length === 0) return [];
  const some = placeholders(digests);
  const rows = await readShapes<IncidentRow>(
    sql,
    `SELECT ${COLUMNS} FROM desk_incidents WHERE digest IN (${some}) UNION ALL
      SELECT ${COLUMNS} FROM desk_incidents WHERE merged_into IN (${some}) AND digest NOT IN (${some})`,
    [...digests, ...digests, ...digests],
  );
  const own = new Map(rows.map((row) => [row.key, row]));
  const merged = Map.groupBy(rows, ({ mergedInto = '' }) => mergedInto);
  return digests.flatMap((digest) => {
    const row = own.get(digest);
    return row ? [toIncident(row, merged.get(digest) ?? [])] : [];
  });
}

/** Returns the digests whose occurrences belong to this incident: its own, and those merged into it. */
export async function listFamily(sql: Sql, digest: string): Promise<string[]> {
  const rows = await sql.all<{ digest: string }>(
    'SELECT digest FROM desk_incidents WHERE merged_into = ? AND digest <> ? ORDER BY digest',
    [digest, digest],
  );
  return [digest, ...rows.map((row) => row.digest)];
}

/** Returns the digest that this one was merged into, or itself. Undefined if there is no incident. */
export async function readRoot(sql: Sql, digest: string): Promise<string | undefined> {
  const [row] = await sql.all<{ root: string }>(
    'SELECT COALESCE(merged_into, digest) AS root FROM desk_incidents WHERE digest = ?',
    [digest],
  );
  return row?.root;
}

/** Returns the incident that a digest belongs to, and locks it until the transaction ends. */
export async function lockIncident(sql: Sql, digest: string): Promise<Incident | undefined> {
  const lock = (of: string) =>
    sql.all<{ merged_into: string | null }>(
      `SELECT merged_into FROM desk_incidents WHERE digest = ? ${sql.dialect.forUpdate}`,
      [of],
    );
  const [own] = await lock(digest);
  const root = own?.merged_into ?? digest;
  if (root !== digest) await lock(root);
  return own && readIncident(sql, root);
}

function toIncident(own: IncidentRow, merged: readonly IncidentRow[]): Incident {
  const { locationPath, locationFunction = '', locationDetail = '', weak, server, browser, ...row } = own;
  const { regressedAt, regressedRelease = '', mergedInto: _root, ...facts } = row;
  const all = [own, ...merged];
  const first = all.reduce((found, one) => (one.firstAt < found.firstAt ? one : found));
  const last = all.reduce((found, one) => (one.lastAt > found.lastAt ? one : found));
  return {
    ...facts,
    digest: toDigest(own.key),
    ...(locationPath !== undefined && {
      site: { path: locationPath, function: locationFunction, detail: locationDetail },
    }),
    weak: weak === 1,
    ...(regressedAt !== undefined && { regressed: { at: regressedAt, release: regressedRelease } }),
    firstSide: first.firstSide,
    firstAt: first.firstAt,
    firstRelease: first.firstRelease,
    firstBuild: first.firstBuild,
    lastAt: last.lastAt,
    lastRelease: last.lastRelease,
    lastBuild: last.lastBuild,
    counts: {
      server: all.reduce((sum, one) => sum + one.server, 0),
      browser: all.reduce((sum, one) => sum + one.browser, 0),
    },
    aliases: merged.map(({ key }) => toDigest(key)),
  };
}
