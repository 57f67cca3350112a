import { type CallKey, toDigest, toKey } from '../incident-key.ts';
import { removeOccurrences, removeReferences } from '../occurrences/remove-occurrences.ts';
import type { Incident } from '../records.ts';
import { placeholders, type Sql } from '../sql.ts';
import type { StoreContext } from '../store-context.ts';
import { changeShown } from './change-feed.ts';
import { type ChangeBy, changeLocked, type NotChanged } from './change-incident.ts';
import { storeChange } from './change-log.ts';
import { listFamily, lockIncident } from './incident-table.ts';

/** Tables with rows of an incident, by its digest. */
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

type DeleteOutcome = { readonly outcome: 'deleted' } | NotChanged;

/**
 * Deletes an incident with its counts and everything merged into it. If it happens again, it is a new
 * incident. The change log keeps who deleted it, and when.
 *
 * @param by `expected` is the version that was shown. If it is not the stored one, nothing is deleted
 */
export function deleteIncident(context: StoreContext, key: CallKey, by: ChangeBy): Promise<DeleteOutcome> {
  return changeLocked(context, key, by, async (sql, incident) => {
    await removeIncident(sql, incident, by.author);
    return { outcome: 'deleted' };
  });
}

/** Removes an incident in a transaction that has locked it. @param author empty to leave no record */
export async function removeIncident(sql: Sql, incident: Incident, author: string): Promise<void> {
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
  // An address can name any of them.
  for (const key of author === '' ? [] : family) {
    await storeChange(sql, { digest: key, author, action: 'deleted', detail: { count } });
  }
}

/**
 * Deletes the aliases that lead to occurrences of an incident. Their targets look like `7K3QM2XA-9F4W0R6B`,
 * with `@environment` appended outside of the home environment.
 */
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
 * Deletes one occurrence, the feedback about it, and the texts that the incident has from it. The counts
 * stay.
 *
 * @returns false if the store does not have the occurrence
 */
export function deleteOccurrence(
  context: StoreContext,
  key: CallKey,
  occurrence: string,
  author: string,
): Promise<boolean> {
  return changeShown(context, async (sql) => {
    const incident = await lockIncident(sql, toKey(key, context.home));
    if (!incident) return false;
    const family = await listFamily(sql, incident.key);
    const some = placeholders(family);
    const rows = await sql.all<{ digest: string }>(
      `SELECT digest FROM desk_occurrences WHERE occurrence = ? AND digest IN (${some})`,
      [occurrence, ...family],
    );
    if (rows.length === 0) return false;
    await removeReferences(sql, new Set([occurrence]));
    for (const row of rows) await removeOccurrences(sql, row.digest, [occurrence]);
    await storeChange(sql, {
      digest: incident.key,
      author,
      action: 'occurrence-deleted',
      detail: { occurrence },
    });
    return true;
  });
}

export const changes = { deleteIncident, deleteOccurrence };
