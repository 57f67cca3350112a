import type { Address } from '../address.ts';
import { parseAddress } from '../address.ts';
import { unpackJson } from './pack.ts';
import type {
  Found,
  Incident,
  IncidentHour,
  IncidentRelease,
  IncidentState,
  Occurrence,
  StoredFailure,
} from './records.ts';
import { placeholders, type Sql } from './sql.ts';

/** Aliases of aliases that are followed (a count): a ring of them must end. */
const MAX_ALIASES = 10;

export interface IncidentQuery {
  /** The most that are answered (a count). */
  readonly limit: number;
  /** Those last seen before this time (ms since 1970). */
  readonly before?: number;
}

export interface OccurrenceQuery {
  readonly limit: number;
  readonly before?: number;
}

/**
 * Follows an address to its incident, through what was merged, moved and resolved later.
 *
 * @returns undefined where nothing is known of the digest
 */
export async function find(sql: Sql, address: Address): Promise<Found | undefined> {
  const led = await follow(sql, address);
  const incident = (await readIncident(sql, led.digest)) ?? (await readLastMoved(sql, led));
  if (!incident) return undefined;
  if (led.occurrence === undefined) return { incident };
  const digests = [address.digest, led.digest, ...incident.aliases];
  const occurrence = await readOccurrence(sql, digests, led.occurrence);
  if (occurrence) return { incident, occurrence, state: 'kept' };
  return { incident, state: (await isThinned(sql, [...digests])) ? 'thinned' : 'unknown' };
}

/** Whether a digest has an incident, its own or another's. */
export async function isKnown(sql: Sql, digest: string): Promise<boolean> {
  const rows = await sql.all(
    `SELECT 1 AS one FROM desk_incidents WHERE digest = ?
      UNION ALL SELECT 1 AS one FROM desk_aliases WHERE digest = ? AND occurrence = '' LIMIT 1`,
    [digest, digest],
  );
  return rows.length > 0;
}

/** All that was shown under this digest has others by now: the last one that moved shows where to look. */
async function readLastMoved(sql: Sql, { digest, occurrence }: Address): Promise<Incident | undefined> {
  if (occurrence !== undefined) return undefined;
  const [alias] = await sql.all<{ target: string }>(
    'SELECT target FROM desk_aliases WHERE digest = ? ORDER BY at DESC LIMIT 1',
    [digest],
  );
  const target = alias && parseAddress(alias.target);
  return target && readIncident(sql, target.digest);
}

async function follow(sql: Sql, address: Address): Promise<Address> {
  let current = address;
  for (let steps = 0; steps < MAX_ALIASES; steps += 1) {
    const [alias] = await sql.all<{ target: string }>(
      "SELECT target FROM desk_aliases WHERE digest = ? AND occurrence IN (?, '') ORDER BY occurrence DESC LIMIT 1",
      [current.digest, current.occurrence ?? ''],
    );
    const target = alias && parseAddress(alias.target);
    if (!target) break;
    current = { ...current, ...target };
  }
  return current;
}

/** Occurrences of one incident may stand under each of the digests that lead to it. */
async function readOccurrence(
  sql: Sql,
  digests: readonly string[],
  occurrence: string,
): Promise<Occurrence | undefined> {
  const rows = await sql.all<OccurrenceRow>(
    `SELECT ${OCCURRENCE_COLUMNS} ${FROM_OCCURRENCES} WHERE o.occurrence = ? AND o.digest IN (${placeholders(digests)}) LIMIT 1`,
    [occurrence, ...digests],
  );
  return rows[0] && toOccurrence(rows[0]);
}

async function isThinned(sql: Sql, digests: readonly string[]): Promise<boolean> {
  const rows = await sql.all(
    `SELECT 1 AS one FROM desk_hours WHERE digest IN (${placeholders(digests)}) AND kept < server_count + browser_count LIMIT 1`,
    digests,
  );
  return rows.length > 0;
}

interface IncidentRow {
  readonly digest: string;
  readonly rule: number;
  readonly kind: Incident['kind'];
  readonly title: string;
  readonly class: string;
  readonly message: string;
  readonly site_path: string | null;
  readonly site_function: string | null;
  readonly site_detail: string | null;
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
}

/** Merged digests, each with the one that stands for it now. */
const NOT_MERGED = "NOT EXISTS (SELECT 1 FROM desk_aliases a WHERE a.digest = i.digest AND a.occurrence = '')";

export async function readIncident(sql: Sql, digest: string): Promise<Incident | undefined> {
  const aliases = await listAliases(sql, digest);
  const rows = await sql.all<IncidentRow>(
    `SELECT i.* FROM desk_incidents i WHERE i.digest IN (${placeholders([digest, ...aliases])})`,
    [digest, ...aliases],
  );
  const own = rows.find((row) => row.digest === digest) ?? rows[0];
  return own && toIncident({ ...own, digest }, rows, aliases);
}

/** The digests that lead to this one, by whatever way. */
async function listAliases(sql: Sql, digest: string): Promise<string[]> {
  const found = new Set([digest]);
  let fresh = [digest];
  for (let steps = 0; steps < MAX_ALIASES && fresh.length > 0; steps += 1) {
    const rows = await sql.all<{ digest: string }>(
      `SELECT digest FROM desk_aliases WHERE occurrence = '' AND target IN (${placeholders(fresh)})`,
      fresh,
    );
    fresh = rows.map((row) => row.digest).filter((alias) => !found.has(alias));
    for (const alias of fresh) found.add(alias);
  }
  found.delete(digest);
  return [...found];
}

/** The incidents that were seen last. */
export async function listIncidents(sql: Sql, { limit, before }: IncidentQuery): Promise<Incident[]> {
  const rows = await sql.all<{ digest: string }>(
    `SELECT i.digest FROM desk_incidents i WHERE i.last_at < ? AND ${NOT_MERGED} ORDER BY i.last_at DESC, i.digest LIMIT ?`,
    [before ?? Number.MAX_SAFE_INTEGER, limit],
  );
  const incidents: Incident[] = [];
  for (const { digest } of rows) {
    const incident = await readIncident(sql, digest);
    if (incident) incidents.push(incident);
  }
  return incidents;
}

function toIncident(own: IncidentRow, all: readonly IncidentRow[], aliases: readonly string[]): Incident {
  const first = all.reduce((found, row) => (row.first_at < found.first_at ? row : found), own);
  const last = all.reduce((found, row) => (row.last_at > found.last_at ? row : found), own);
  return {
    digest: own.digest,
    rule: own.rule,
    kind: own.kind,
    title: own.title,
    class: own.class,
    message: own.message,
    ...(own.site_path !== null && {
      site: { path: own.site_path, function: own.site_function ?? '', detail: own.site_detail ?? '' },
    }),
    ...(own.route !== null && { route: own.route }),
    weak: own.weak === 1,
    state: own.state,
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
    aliases,
  };
}

interface OccurrenceRow {
  readonly digest: string;
  readonly occurrence: string;
  readonly at: number;
  readonly side: Occurrence['side'];
  readonly request_id: string | null;
  readonly build: string;
  readonly release: string;
  readonly route: string | null;
  readonly visitor: string | null;
  readonly data: Uint8Array | null;
}

const OCCURRENCE_COLUMNS =
  'o.digest, o.occurrence, o.at, o.side, o.request_id, o.build, o.release, o.route, o.visitor, w.data';
const FROM_OCCURRENCES =
  'FROM desk_occurrences o LEFT JOIN desk_wholes w ON w.digest = o.digest AND w.occurrence = o.occurrence';

/** The latest first. */
export async function listOccurrences(
  sql: Sql,
  digest: string,
  { limit, before }: OccurrenceQuery,
): Promise<Occurrence[]> {
  const digests = [digest, ...(await listAliases(sql, digest))];
  const rows = await sql.all<OccurrenceRow>(
    `SELECT ${OCCURRENCE_COLUMNS} ${FROM_OCCURRENCES} WHERE o.digest IN (${placeholders(digests)}) AND o.at < ? ORDER BY o.at DESC, o.occurrence LIMIT ?`,
    [...digests, before ?? Number.MAX_SAFE_INTEGER, limit],
  );
  return rows.map(toOccurrence);
}

function toOccurrence(row: OccurrenceRow): Occurrence {
  const whole = row.data === null ? undefined : unpackJson(row.data);
  return {
    digest: row.digest,
    occurrence: row.occurrence,
    at: row.at,
    side: row.side,
    ...(row.request_id !== null && { requestId: row.request_id }),
    build: row.build,
    release: row.release,
    ...(row.route !== null && { route: row.route }),
    ...(row.visitor !== null && { visitor: row.visitor }),
    // Packed by `take-in.ts`, out of what `parseJournalLine` let through.
    ...(whole !== undefined && { whole: whole as StoredFailure }),
  };
}

/** In the order of time. */
export async function listHours(sql: Sql, digest: string): Promise<IncidentHour[]> {
  const digests = [digest, ...(await listAliases(sql, digest))];
  return sql.all<IncidentHour>(
    `SELECT hour AS at, SUM(server_count) AS server, SUM(browser_count) AS browser, SUM(kept) AS kept
      FROM desk_hours WHERE digest IN (${placeholders(digests)}) GROUP BY hour ORDER BY hour`,
    digests,
  );
}

export async function listReleases(sql: Sql, digest: string): Promise<IncidentRelease[]> {
  const digests = [digest, ...(await listAliases(sql, digest))];
  const rows = await sql.all<{ release: string; build: string; first: number; last: number; count: number }>(
    `SELECT release, build, MIN(first_at) AS first, MAX(last_at) AS last, SUM(count) AS count
      FROM desk_releases WHERE digest IN (${placeholders(digests)}) GROUP BY release, build ORDER BY MIN(first_at)`,
    digests,
  );
  return rows.map(({ release, build, first, last, count }) => ({
    release,
    build,
    firstAt: first,
    lastAt: last,
    count,
  }));
}
