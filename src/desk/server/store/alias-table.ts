import { type Address, ECHO_AGE, parseAddress } from '#engine/tracker';
import { type IncidentKey, toIncidentKey } from './incident-key.ts';
import { insertRows, placeholders, type Sql, toColumn } from './sql.ts';
import type { StoreContext } from './store-context.ts';

/** An address with a key instead of a digest. */
export interface KeyAddress {
  readonly key: IncidentKey;
  readonly occurrence: string;
}

/**
 * An address that was shown to a visitor, and where it leads. `resolved`: the failure got another digest once the maps of
 * its build were read. `echo`: a browser's report of a failure that a server has stored.
 */
export interface Alias extends KeyAddress {
  readonly target: KeyAddress;
  readonly reason: 'resolved' | 'echo';
  /** Milliseconds since 1970. */
  readonly at: number;
}

export async function storeAliases(sql: Sql, aliases: readonly Alias[]): Promise<void> {
  const rows = aliases.map(({ key, occurrence, target, reason, at }) => ({
    key,
    occurrence: toColumn(occurrence),
    target_key: target.key,
    target_occurrence: toColumn(target.occurrence),
    reason,
    at,
  }));
  await insertRows(sql, 'desk_aliases', rows, 'ON CONFLICT (key, occurrence) DO NOTHING');
}

/** Returns where the aliases of an address lead: an echo to a failure, which can have got another digest. */
export async function followAliases(sql: Sql, from: KeyAddress): Promise<readonly KeyAddress[]> {
  const follow = ({ key, occurrence }: KeyAddress) =>
    sql.all<KeyAddress>(
      'SELECT target_key AS key, target_occurrence AS occurrence FROM desk_aliases WHERE key = ? AND occurrence = ?',
      [key, occurrence],
    );
  const [first] = await follow(from);
  return first ? [first, ...(await follow(first))] : [];
}

/** Returns the incident to which the latest alias of a digest leads, whose own failures all have other digests by now. */
export async function findMoved(sql: Sql, key: IncidentKey): Promise<IncidentKey | undefined> {
  const [row] = await sql.all<{ key: IncidentKey }>(
    'SELECT target_key AS key FROM desk_aliases WHERE key = ? ORDER BY at DESC LIMIT 1',
    [key],
  );
  return row?.key;
}

/** Deletes the aliases from and to occurrences. */
export async function deleteAliasesOf(sql: Sql, key: IncidentKey, occurrences: readonly string[]): Promise<void> {
  const some = placeholders(occurrences);
  await sql.run(
    `DELETE FROM desk_aliases WHERE (key = ? AND occurrence IN (${some})) OR (target_key = ? AND target_occurrence IN (${some}))`,
    [key, ...occurrences, key, ...occurrences],
  );
}

export function createAliasTable({ reader, environment }: StoreContext) {
  return {
    /**
     * Reports whether a server's failure of the last hour still lacks an echo, so that one can be stored.
     *
     * @param text an address
     * @returns undefined if the store does not have that failure
     */
    async isEchoAwaited(text: string): Promise<boolean | undefined> {
      const { digest, occurrence }: Partial<Address> = parseAddress(text) ?? {};
      if (digest === undefined || occurrence === undefined) return undefined;
      const key = toIncidentKey(digest, environment);
      const [row] = await reader.all<{ has_echo: number }>(
        `SELECT CASE WHEN EXISTS (SELECT 1 FROM desk_aliases a
            WHERE a.target_key = ? AND a.target_occurrence = ? AND a.reason = 'echo') THEN 1 ELSE 0 END AS has_echo
          FROM desk_occurrences WHERE key = ? AND occurrence = ? AND side = 'server' AND at > ${reader.dialect.now} - ?`,
        [key, occurrence, key, occurrence, ECHO_AGE],
      );
      return row && row.has_echo === 0;
    },
  };
}
