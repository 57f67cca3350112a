import type { Address } from '../address.ts';
import { lockIncident } from './change-incident.ts';
import { storeChange } from './change-log.ts';
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
 * happens again it is a new one.
 *
 * @param expected the `version` that was shown: where another one is stored, nothing is deleted
 */
export async function deleteIncident(
  sql: Sql,
  dialect: SqlDialect,
  digest: string,
  expected?: number,
): Promise<DeleteOutcome> {
  const incident = await lockIncident(sql, dialect, digest);
  if (!incident) return { outcome: 'unknown' };
  if (expected !== undefined && expected !== incident.version) return { outcome: 'conflict', incident };
  const family = await listFamily(sql, incident.digest);
  const some = placeholders(family);
  await sql.run(
    `DELETE FROM desk_feedback WHERE digest IN (${some}) OR occurrence IN
      (SELECT o.occurrence FROM desk_occurrences o WHERE o.digest IN (${some}))`,
    [...family, ...family],
  );
  for (const table of TABLES_OF_INCIDENT) await sql.run(`DELETE FROM ${table} WHERE digest IN (${some})`, family);
  await sql.run(`DELETE FROM desk_aliases WHERE digest IN (${some}) OR substr(target, 1, 8) IN (${some})`, [
    ...family,
    ...family,
  ]);
  await sql.run(`DELETE FROM desk_incidents WHERE digest IN (${some})`, family);
  return { outcome: 'deleted' };
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
  const family = await listFamily(sql, incident.digest);
  const some = placeholders(family);
  const rows = await sql.all<{ digest: string }>(
    `SELECT digest FROM desk_occurrences WHERE occurrence = ? AND digest IN (${some})`,
    [occurrence, ...family],
  );
  if (rows.length === 0) return false;
  await removeReferences(sql, new Set([occurrence]));
  for (const row of rows) await removeOccurrences(sql, dialect, row.digest, [occurrence]);
  await storeChange(sql, dialect, {
    digest: incident.digest,
    author,
    action: 'occurrence-deleted',
    detail: { occurrence },
  });
  return true;
}
