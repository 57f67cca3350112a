import type { Address } from '../address.ts';
import { type ChangeBy, lockIncident } from './change-incident.ts';
import { storeChange } from './change-log.ts';
import { toDigest } from './incident-key.ts';
import { listFamily } from './incident-table.ts';
import type { Incident } from './records.ts';
import { removeOccurrences, removeReferences } from './remove-occurrences.ts';
import { placeholders, type Sql, type SqlDialect } from './sql.ts';

/** Tables with rows of an incident under its digest. */
const TABLES_OF_INCIDENT = [
  'desk_hours',
  'desk_releases',
  'desk_environments',
  'desk_occurrences',
  'desk_wholes',
  'desk_dictionaries',
  'desk_visitors',
  'desk_changes',
  'desk_notes',
  'desk_search',
];

export type DeleteOutcome =
  | { readonly outcome: 'deleted' }
  | { readonly outcome: 'conflict'; readonly incident: Incident }
  | { readonly outcome: 'unknown' };

/**
 * Deletes an incident with all that is merged into it, in a transaction: its counts too. When it
 * happens again it is a new one. Who deleted it and when stays on record.
 *
 * @param by with `expected`, the version that was shown: if another one is stored, nothing is deleted
 */
export async function deleteIncident(
  sql: Sql,
  dialect: SqlDialect,
  digest: string,
  by: ChangeBy,
): Promise<DeleteOutcome> {
  const incident = await lockIncident(sql, dialect, digest);
  if (!incident) return { outcome: 'unknown' };
  if (by.expected !== undefined && by.expected !== incident.version) return { outcome: 'conflict', incident };
  const family = await listFamily(sql, incident.key);
  const some = placeholders(family);
  await sql.run(
    `DELETE FROM desk_feedback WHERE digest IN (${some}) OR occurrence IN
      (SELECT o.occurrence FROM desk_occurrences o WHERE o.digest IN (${some}))`,
    [...family, ...family],
  );
  for (const table of TABLES_OF_INCIDENT) await sql.run(`DELETE FROM ${table} WHERE digest IN (${some})`, family);
  await sql.run(`DELETE FROM desk_aliases WHERE digest IN (${some}) OR target IN (${some})`, [...family, ...family]);
  for (const key of family) await dropAliasesOfOccurrences(sql, key);
  await sql.run(`DELETE FROM desk_incidents WHERE digest IN (${some})`, family);
  const count = incident.counts.server + incident.counts.browser;
  // An address may have led to any of them.
  for (const key of by.author === '' ? [] : family) {
    await storeChange(sql, dialect, { digest: key, author: by.author, action: 'deleted', detail: { count } });
  }
  return { outcome: 'deleted' };
}

/** Deletes the aliases that lead to occurrences of an incident: `7K3QM2XA-9F4W0R6B`, with `@environment` outside of the home environment. */
async function dropAliasesOfOccurrences(sql: Sql, key: string): Promise<void> {
  const digest = toDigest(key);
  const start = `${digest}-`;
  const name = '9F4W0R6B';
  await sql.run('DELETE FROM desk_aliases WHERE substr(target, 1, ?) = ? AND substr(target, ?) = ?', [
    start.length,
    start,
    start.length + name.length + 1,
    key.slice(digest.length),
  ]);
}

/**
 * Deletes one time that it happened, with what was said about it and what the incident says because of
 * it, in a transaction. It stays counted.
 *
 * @returns false where it is not kept
 */
export async function deleteOccurrence(
  sql: Sql,
  dialect: SqlDialect,
  { digest, occurrence }: Required<Address>,
  author: string,
): Promise<boolean> {
  const incident = await lockIncident(sql, dialect, digest);
  if (!incident) return false;
  const family = await listFamily(sql, incident.key);
  const some = placeholders(family);
  const rows = await sql.all<{ digest: string }>(
    `SELECT digest FROM desk_occurrences WHERE occurrence = ? AND digest IN (${some})`,
    [occurrence, ...family],
  );
  if (rows.length === 0) return false;
  await removeReferences(sql, new Set([occurrence]));
  for (const row of rows) await removeOccurrences(sql, dialect, row.digest, [occurrence]);
  await storeChange(sql, dialect, {
    digest: incident.key,
    author,
    action: 'occurrence-deleted',
    detail: { occurrence },
  });
  return true;
}
