import type { Address } from '../address.ts';
import { parseAddress } from '../address.ts';
import { readAliasTarget, splitKey, toKeyIn } from './incident-key.ts';
import { listFamily, readIncident, readIncidents, readRoot } from './incident-table.ts';
import { findByRequest, readOccurrence } from './occurrence-table.ts';
import type { Found, Incident, IncidentHour, IncidentRelease } from './records.ts';
import { placeholders, type Sql, type SqlDialect } from './sql.ts';

/** Aliases of aliases that are followed (a count): a ring of them must end. */
const MAX_ALIASES = 10;

/** Where an address is looked for: it names no environment itself. */
export interface Where {
  readonly home: string;
  /** In this order. */
  readonly environments: readonly string[];
}

/**
 * Follows an address to its incident, through what was merged, moved and resolved later. An address
 * that a server gave out wins over any alias, because browsers choose the ids of their events.
 *
 * @returns undefined where nothing is known of the digest
 */
export async function find(sql: Sql, address: Address, { home, environments }: Where): Promise<Found | undefined> {
  const keys = environments.map((environment) => toKeyIn(address.digest, environment, home));
  if (address.occurrence !== undefined) {
    const issued = await findIssued(sql, keys, address.occurrence);
    if (issued) return issued;
  }
  let unknown: Found | undefined;
  for (const key of keys) {
    const found = await findIn(sql, { ...address, digest: key });
    if (found && found.state !== 'unknown') return found;
    unknown ??= found;
  }
  return unknown;
}

async function findIssued(sql: Sql, keys: readonly string[], name: string): Promise<Found | undefined> {
  const [row] = await sql.all<{ digest: string }>(
    `SELECT digest FROM desk_occurrences WHERE occurrence = ? AND digest IN (${placeholders(keys)}) AND side = 'server' LIMIT 1`,
    [name, ...keys],
  );
  if (!row) return undefined;
  const incident = await readIncident(sql, (await readRoot(sql, row.digest)) ?? row.digest);
  const occurrence = await readOccurrence(sql, [row.digest], name);
  return incident && occurrence && { incident, occurrence, state: 'kept' };
}

/** @param address its digest is a key */
async function findIn(sql: Sql, address: Address): Promise<Found | undefined> {
  const led = await follow(sql, address);
  const incident = (await readIncident(sql, led.digest)) ?? (await readLastMoved(sql, led));
  if (!incident) return undefined;
  if (led.occurrence === undefined) return { incident };
  const keys = [address.digest, led.digest, ...(await listFamily(sql, incident.key))];
  const occurrence = await readOccurrence(sql, keys, led.occurrence);
  if (occurrence) return { incident, occurrence, state: 'kept' };
  return { incident, state: (await isThinned(sql, keys)) ? 'thinned' : 'unknown' };
}

/** What somebody who types this looks for. */
export type Resolved = Pick<Incident, 'digest' | 'environment'> & {
  /** Set if the text names one occurrence. */
  readonly occurrence?: string;
};

/**
 * Reads what stands in the search box as a digest, an address, a request's id or a trace's id.
 *
 * @returns undefined where it is none that the store knows: then it is to be searched for
 */
export async function resolveQuery(sql: Sql, text: string, where: Where): Promise<Resolved | undefined> {
  const wanted = text.trim();
  const address = parseAddress(wanted);
  const found = address && (await find(sql, address, where));
  if (found) return toResolved(found.incident, found.occurrence?.occurrence ?? address.occurrence);
  if (wanted.length < MIN_REQUEST_ID || wanted.length > MAX_REQUEST_ID) return undefined;
  const seen = await findByRequest(sql, wanted);
  const incident = seen && (await readIncident(sql, (await readRoot(sql, seen.digest)) ?? seen.digest));
  return incident && toResolved(incident, seen.occurrence);
}

function toResolved({ digest, environment }: Incident, occurrence: string | undefined): Resolved {
  return { digest, environment, ...(occurrence !== undefined && { occurrence }) };
}

/** As `request-id.ts` takes them from a proxy (characters). */
const MIN_REQUEST_ID = 8;
const MAX_REQUEST_ID = 128;

/**
 * Finds recent occurrences by the second half of their addresses, and those that an echo of this name led to.
 *
 * @param maxAge milliseconds
 * @returns addresses with keys in the place of digests
 */
export async function findByName(
  sql: Sql,
  { now }: SqlDialect,
  name: string,
  maxAge: number,
): Promise<Required<Address>[]> {
  const stored = await sql.all<Required<Address>>(
    `SELECT digest, occurrence FROM desk_occurrences WHERE occurrence = ? AND at > ${now} - ?`,
    [name, maxAge],
  );
  const echoes = await sql.all<{ target: string }>(
    `SELECT target FROM desk_aliases WHERE occurrence = ? AND reason = 'echo' AND at > ${now} - ?`,
    [name, maxAge],
  );
  const targets = echoes.flatMap(({ target }) => {
    const { digest, occurrence } = readAliasTarget(target) ?? {};
    return digest !== undefined && occurrence !== undefined ? [{ digest, occurrence }] : [];
  });
  return [...stored, ...targets];
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

/** Returns the keys that have an incident. */
export async function listKnown(sql: Sql, keys: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await sql.all<{ digest: string }>(
    `SELECT digest FROM desk_incidents WHERE digest IN (${placeholders(keys)})`,
    keys,
  );
  return new Set(rows.map(({ digest }) => digest));
}

/** All that was shown under this digest has others by now: the last one that moved shows where to look. */
async function readLastMoved(sql: Sql, { digest, occurrence }: Address): Promise<Incident | undefined> {
  if (occurrence !== undefined) return undefined;
  const [alias] = await sql.all<{ target: string }>(
    'SELECT target FROM desk_aliases WHERE digest = ? ORDER BY at DESC LIMIT 1',
    [digest],
  );
  const target = alias && readAliasTarget(alias.target);
  return target && readIncident(sql, (await readRoot(sql, target.digest)) ?? target.digest);
}

async function follow(sql: Sql, address: Address): Promise<Address> {
  let current = address;
  for (let steps = 0; steps < MAX_ALIASES; steps += 1) {
    const [alias] = await sql.all<{ target: string }>(
      "SELECT target FROM desk_aliases WHERE digest = ? AND occurrence IN (?, '') ORDER BY occurrence DESC LIMIT 1",
      [current.digest, current.occurrence ?? ''],
    );
    const target = alias && readAliasTarget(alias.target);
    if (!target) break;
    current = { ...current, ...target };
  }
  return current;
}

async function isThinned(sql: Sql, digests: readonly string[]): Promise<boolean> {
  const rows = await sql.all(
    `SELECT 1 AS one FROM desk_hours WHERE digest IN (${placeholders(digests)}) AND kept < server_count + browser_count LIMIT 1`,
    digests,
  );
  return rows.length > 0;
}

/** In the order of time. */
export async function listHours(sql: Sql, digest: string): Promise<IncidentHour[]> {
  const digests = await listFamily(sql, digest);
  return sql.all<IncidentHour>(
    `SELECT hour AS at, SUM(server_count) AS server, SUM(browser_count) AS browser, SUM(kept) AS kept
      FROM desk_hours WHERE digest IN (${placeholders(digests)}) GROUP BY hour ORDER BY hour`,
    digests,
  );
}

/** In the order in which it was first seen in each. */
export async function listReleases(sql: Sql, digest: string): Promise<IncidentRelease[]> {
  const digests = await listFamily(sql, digest);
  const rows = await sql.all<{ release: string; build: string; first: number; last: number; count: number }>(
    `SELECT release, build, MIN(first_at) AS first, MAX(last_at) AS last, SUM(count) AS count
      FROM desk_releases WHERE digest IN (${placeholders(digests)}) GROUP BY release, build ORDER BY MIN(first_at)`,
    digests,
  );
  const regressions = await listRegressions(sql, digests);
  return rows.map(({ release, build, first, last, count }) => {
    const regressedAt = regressions.get(release);
    return {
      release,
      build,
      firstAt: first,
      lastAt: last,
      count,
      ...(regressedAt !== undefined && { regressedAt }),
    };
  });
}

/** By release, when it came back there last. */
async function listRegressions(sql: Sql, digests: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await sql.all<{ at: number; detail: string }>(
    `SELECT at, detail FROM desk_changes WHERE digest IN (${placeholders(digests)}) AND action = 'regressed' ORDER BY at`,
    digests,
  );
  // Written by `settle-states.ts`.
  return new Map(rows.map(({ at, detail }) => [(JSON.parse(detail) as { release: string }).release, at]));
}

/** Others of its environment that may have the same cause, those seen last first. */
export async function listSimilar(sql: Sql, digest: string, limit: number): Promise<Incident[]> {
  const family = await listFamily(sql, digest);
  const own = placeholders(family);
  const rows = await sql.all<{ digest: string }>(
    `SELECT i.digest FROM desk_incidents i WHERE i.merged_into IS NULL AND i.digest NOT IN (${own})
      AND COALESCE(i.environment, '') = ? AND (i.site_path IN (SELECT f.site_path FROM desk_incidents f WHERE f.digest IN (${own}) AND f.site_path IS NOT NULL)
        OR i.shape IN (SELECT f.shape FROM desk_incidents f WHERE f.digest IN (${own}) AND f.shape IS NOT NULL))
      ORDER BY i.last_at DESC, i.digest LIMIT ?`,
    [...family, splitKey(digest).environment ?? '', ...family, ...family, limit],
  );
  return readIncidents(
    sql,
    rows.map((row) => row.digest),
  );
}
