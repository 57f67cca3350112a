import type { Address } from '../../../engine/errors/parse-address.ts';
import { parseAddress } from '../../../engine/errors/parse-address.ts';
import { FEEDBACK_AGE } from '../../limits.ts';
import { type CallKey, readAliasTarget, splitKey, toDigest, toKey, toKeyIn } from '../incident-key.ts';
import { findByRequest, readOccurrence } from '../occurrences/occurrence-table.ts';
import type { Found, Incident, IncidentHour, IncidentRelease } from '../records.ts';
import { listKeys, readEnvironments } from '../servers/environment-table.ts';
import { exists, placeholders, type Sql } from '../sql.ts';
import type { StoreContext } from '../store-context.ts';
import { listFamily, readIncident, readIncidents, readRoot } from './incident-table.ts';

/** The most aliases that are followed in a row, so that a cycle ends. */
const MAX_ALIASES = 10;

/**
 * Follows an address to its incident, also after a merge or a new digest. An address that a server issued
 * wins over any alias, because browsers choose the ids of their events.
 *
 * @param environment all environments by default, first that of this process
 * @returns undefined if the digest is unknown
 */
export async function find(context: StoreContext, address: Address, environment?: string): Promise<Found | undefined> {
  const { reader: sql } = context;
  const keys = await listKeys(context, address.digest, environment);
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

/** @param address an address with a key instead of a digest */
async function findIn(sql: Sql, address: Address): Promise<Found | undefined> {
  const led = await follow(sql, address);
  const incident = (await readIncident(sql, led.digest)) ?? (await readLastMoved(sql, led));
  if (!incident) return undefined;
  if (led.occurrence === undefined) return { incident };
  const keys = [address.digest, led.digest, ...(await listFamily(sql, incident.key))];
  const occurrence = await readOccurrence(sql, keys, led.occurrence);
  // Read again: the occurrence can have been stored, and counted, in the meantime.
  if (occurrence) return { incident: (await readIncident(sql, incident.key)) ?? incident, occurrence, state: 'kept' };
  return { incident, state: (await isSampledOut(sql, keys)) ? 'thinned' : 'unknown' };
}

/** The incident or occurrence that a text names. */
export type Resolved = Pick<Incident, 'digest' | 'environment'> & {
  /** Set if the text names one occurrence. */
  readonly occurrence?: string;
};

/**
 * Resolves the text of the search box as a digest, an address, a request id or a trace id.
 *
 * @returns undefined if the store knows none of these. The caller then searches for the text
 */
export async function resolveQuery(context: StoreContext, text: string): Promise<Resolved | undefined> {
  const { reader: sql } = context;
  const wanted = text.trim();
  const address = parseAddress(wanted);
  const found = address && (await find(context, address));
  if (found) return toResolved(found.incident, found.occurrence?.occurrence ?? address.occurrence);
  if (wanted.length < MIN_REQUEST_ID || wanted.length > MAX_REQUEST_ID) return undefined;
  const seen = await findByRequest(sql, wanted);
  const incident = seen && (await readIncident(sql, (await readRoot(sql, seen.digest)) ?? seen.digest));
  return incident && toResolved(incident, seen.occurrence);
}

function toResolved({ digest, environment }: Incident, occurrence: string | undefined): Resolved {
  return { digest, environment, ...(occurrence !== undefined && { occurrence }) };
}

/** The lengths that `request-id.ts` accepts from a proxy (characters). */
const MIN_REQUEST_ID = 8;
const MAX_REQUEST_ID = 128;

/** Finds a failure of the last day in this process's environment. @param name the second half of its address */
export async function findEvent(
  { reader, environment, home }: StoreContext,
  name: string,
): Promise<Required<Address> | undefined> {
  const found = await findByName(reader, name);
  const own = found.find(({ digest: key }) => (splitKey(key).environment ?? home) === environment);
  return own && { digest: toDigest(own.digest), occurrence: own.occurrence };
}

/**
 * Finds recent occurrences by the second half of their addresses, and those that an echo with this name
 * leads to.
 *
 * @returns addresses with keys instead of digests
 */
async function findByName(sql: Sql, name: string): Promise<Required<Address>[]> {
  const stored = await sql.all<Required<Address>>(
    `SELECT digest, occurrence FROM desk_occurrences WHERE occurrence = ? AND at > ${sql.dialect.now} - ?`,
    [name, FEEDBACK_AGE],
  );
  const echoes = await sql.all<{ target: string }>(
    `SELECT target FROM desk_aliases WHERE occurrence = ? AND reason = 'echo' AND at > ${sql.dialect.now} - ?`,
    [name, FEEDBACK_AGE],
  );
  const targets = echoes.flatMap(({ target }) => {
    const { digest, occurrence } = readAliasTarget(target) ?? {};
    return digest !== undefined && occurrence !== undefined ? [{ digest, occurrence }] : [];
  });
  return [...stored, ...targets];
}

/** Reports whether a digest leads to an incident, directly or by an alias. */
export async function isKnown({ reader, home }: StoreContext, key: CallKey): Promise<boolean> {
  const digest = toKey(key, home);
  return exists(
    reader,
    `SELECT 1 FROM desk_incidents WHERE digest = ?
      UNION ALL SELECT 1 FROM desk_aliases WHERE digest = ? AND occurrence = ''`,
    [digest, digest],
  );
}

/** Returns the names of the environments that know a digest, sorted. */
export async function listKnownIn({ reader, home }: StoreContext, digest: string): Promise<string[]> {
  const { names } = await readEnvironments(reader);
  const keys = names.map((environment) => toKeyIn(digest, environment, home));
  const rows = await reader.all<{ digest: string }>(
    `SELECT digest FROM desk_incidents WHERE digest IN (${placeholders(keys)})`,
    keys,
  );
  const known = new Set(rows.map((row) => row.digest));
  return names.filter((_name, index) => known.has(keys[index] ?? ''));
}

/** Follows the newest alias of a digest whose occurrences all have other digests by now. */
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

function isSampledOut(sql: Sql, digests: readonly string[]): Promise<boolean> {
  const some = placeholders(digests);
  return exists(
    sql,
    `SELECT 1 FROM desk_hours WHERE digest IN (${some}) AND kept < server_count + browser_count`,
    digests,
  );
}

/** Lists the hours in which an incident happened, the earliest first. */
export async function listHours({ reader: sql, home }: StoreContext, key: CallKey): Promise<IncidentHour[]> {
  const digests = await listFamily(sql, toKey(key, home));
  return sql.all<IncidentHour>(
    `SELECT hour AS at, SUM(server_count) AS server, SUM(browser_count) AS browser, SUM(kept) AS kept
      FROM desk_hours WHERE digest IN (${placeholders(digests)}) GROUP BY hour ORDER BY hour`,
    digests,
  );
}

/** Lists the releases in which an incident happened, ordered by its first occurrence in each. */
export async function listReleases({ reader: sql, home }: StoreContext, key: CallKey): Promise<IncidentRelease[]> {
  const digests = await listFamily(sql, toKey(key, home));
  const rows = await sql.all<Omit<IncidentRelease, 'regressedAt'>>(
    `SELECT release, build, MIN(first_at) AS "firstAt", MAX(last_at) AS "lastAt", SUM(count) AS count
      FROM desk_releases WHERE digest IN (${placeholders(digests)}) GROUP BY release, build ORDER BY MIN(first_at)`,
    digests,
  );
  const regressions = await listRegressions(sql, digests);
  return rows.map((row) => {
    const regressedAt = regressions.get(row.release);
    return { ...row, ...(regressedAt !== undefined && { regressedAt }) };
  });
}

/** Returns the time of the latest regression in each release. */
async function listRegressions(sql: Sql, digests: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await sql.all<{ at: number; detail: string }>(
    `SELECT at, detail FROM desk_changes WHERE digest IN (${placeholders(digests)}) AND action = 'regressed' ORDER BY at`,
    digests,
  );
  // Written by `settle-states.ts`.
  return new Map(rows.map(({ at, detail }) => [(JSON.parse(detail) as { release: string }).release, at]));
}

/** Lists incidents of the same environment that may have the same cause, the last seen first. */
export async function listSimilar(
  { reader: sql, home }: StoreContext,
  key: CallKey,
  limit: number,
): Promise<Incident[]> {
  const digest = toKey(key, home);
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

export const lookUps = { find, resolveQuery, findEvent, isKnown };
export const queries = { listKnownIn, listHours, listReleases, listSimilar };
