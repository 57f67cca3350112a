import { type Address, parseAddress } from '#engine/tracker';
import { SIDES } from '../../shared/choices.ts';
import { MAX_OCCURRENCES_PER_HOUR } from '../desk-limits.ts';
import { findMoved, followAliases, type KeyAddress } from './alias-table.ts';
import { type IncidentKey, splitKey, toIncidentKey } from './incident-key.ts';
import { readIncident } from './incident-table.ts';
import { findByRequest, readOccurrence } from './occurrence-table.ts';
import type { FoundIncident, Incident, Occurrence } from './records.ts';
import { exists } from './sql.ts';
import type { StoreContext } from './store-context.ts';

/** The incident or occurrence that a text names. */
export type Resolved = Pick<Incident, 'digest' | 'environment'> & {
  /** Set if the text names one occurrence. */
  readonly occurrence?: string;
};

/** Finds incidents by addresses and ids. */
export function createIncidentFinder({ reader: sql, environment: own }: StoreContext) {
  /** Lists all environments that can know a digest, first that of this process. */
  async function listEnvironmentsFor(digest: string): Promise<ReadonlySet<string>> {
    const rows = await sql.all<{ environment: string }>(
      'SELECT environment FROM desk_incidents WHERE digest = ? UNION SELECT environment FROM desk_deployments',
      [digest],
    );
    return new Set([own, ...rows.map(({ environment }) => environment).sort()]);
  }

  /**
   * Follows an address to its incident, also if its failure got another digest. An address that a server issued wins over
   * others, because browsers choose the ids of their events.
   *
   * @param environment all environments by default, first that of this process
   * @returns undefined if the digest is unknown
   */
  async function find({ digest, occurrence }: Address, environment?: string): Promise<FoundIncident | undefined> {
    const environments = environment === undefined ? await listEnvironmentsFor(digest) : [environment];
    const keys = [...environments].map((name) => toIncidentKey(digest, name));
    if (occurrence === undefined) {
      const incident = await findFirst(keys);
      return incident && { incident };
    }
    const own = keys.map((key) => ({ key, occurrence }));
    const aliased = (await Promise.all(own.map((address) => followAliases(sql, address)))).flat();
    const stored = await findStored([...own, ...aliased]);
    // Read after the occurrence, so that the incident counts it.
    const incident = await findFirst(stored ? [stored.key] : [...aliased.map(({ key }) => key).reverse(), ...keys]);
    if (!incident) return undefined;
    if (stored) return { incident, occurrence: stored, state: 'stored' };
    return { incident, state: (await isSampled(incident.key)) ? 'sampled' : 'unknown' };
  }

  async function findStored(addresses: readonly KeyAddress[]): Promise<Occurrence | undefined> {
    const found = await Promise.all(addresses.map(({ key, occurrence }) => readOccurrence(sql, key, occurrence)));
    return found.find((one) => one?.side === 'server') ?? found.find((one) => one !== undefined);
  }

  /** Returns the first known incident. The failures of a digest can all have other digests by now. */
  async function findFirst(keys: readonly IncidentKey[]): Promise<Incident | undefined> {
    for (const key of keys) {
      const incident = await readIncident(sql, key);
      if (incident) return incident;
      const moved = await findMoved(sql, key);
      const target = moved === undefined ? undefined : await readIncident(sql, moved);
      if (target) return target;
    }
    return undefined;
  }

  /** Reports whether some occurrences were only counted. */
  function isSampled(key: IncidentKey): Promise<boolean> {
    const isFull = SIDES.map((side) => `${side}_count > ${MAX_OCCURRENCES_PER_HOUR}`);
    return exists(sql, `SELECT 1 FROM desk_hours WHERE key = ? AND (${isFull.join(' OR ')})`, [key]);
  }

  return {
    find,

    /**
     * Resolves the text of the search box as a digest, an address, a request id or a trace id.
     *
     * @returns undefined if the store knows none of these. The caller then searches for the text
     */
    async resolveQuery(text: string): Promise<Resolved | undefined> {
      const wanted = text.trim();
      const address = parseAddress(wanted);
      const found = address && (await find(address));
      if (found) {
        return { ...splitKey(found.incident.key), occurrence: found.occurrence?.occurrence ?? address.occurrence };
      }
      const seen = await findByRequest(sql, wanted);
      return seen && { ...splitKey(seen.key), occurrence: seen.occurrence };
    },

    /** Reports whether a digest leads to an incident in this environment, directly or by an alias. */
    isKnownDigest(digest: string): Promise<boolean> {
      const key = toIncidentKey(digest, own);
      return exists(
        sql,
        'SELECT 1 FROM desk_incidents WHERE key = ? UNION ALL SELECT 1 FROM desk_aliases WHERE key = ?',
        [key, key],
      );
    },
  };
}
