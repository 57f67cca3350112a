import { readPages } from '../read-pages.ts';
import { inParts, placeholders, type Sql, type SqlValue } from '../sql.ts';
import { rebuildIncident } from './rebuild-incident.ts';

/** The number of aliases that are read at a time. */
const ALIAS_PAGE = 5000;

/** `7K3QM2XA-9F4W0R6B` or `7K3QM2XA-9F4W0R6B@staging`. */
const TARGET = /-([0-9A-HJKMNP-TV-Z]{8})(?:@|$)/;

/**
 * Deletes the feedback about occurrences, and the aliases from and to them, in a transaction.
 *
 * @returns the number of deleted messages, and the names of the occurrences and their echoes
 */
export async function removeReferences(
  sql: Sql,
  occurrences: ReadonlySet<string>,
): Promise<{ readonly feedback: number; readonly names: ReadonlySet<string> }> {
  const names = new Set(occurrences);
  const query = { table: 'desk_aliases', key: ['digest', 'occurrence'], where: "occurrence <> ''", page: ALIAS_PAGE };
  for await (const rows of readPages<{ digest: string; occurrence: string; target: string }>(sql, query)) {
    for (const { digest, occurrence, target } of rows) {
      if (!occurrences.has(occurrence) && !occurrences.has(TARGET.exec(target)?.[1] ?? '')) continue;
      names.add(occurrence);
      await sql.run('DELETE FROM desk_aliases WHERE digest = ? AND occurrence = ?', [digest, occurrence]);
    }
  }
  const feedback = await runInParts(sql, (some) => `DELETE FROM desk_feedback WHERE occurrence IN (${some})`, [
    ...names,
  ]);
  return { feedback, names };
}

/**
 * Deletes occurrences of one digest, and rebuilds the texts of its incident, in a transaction. Counts stay.
 *
 * @returns the number of occurrences
 */
export async function removeOccurrences(sql: Sql, digest: string, occurrences: readonly string[]): Promise<number> {
  // Locks the incident, so that no replica packs anything with the old dictionary from here on.
  await sql.all(`SELECT 1 AS one FROM desk_incidents WHERE digest = ? ${sql.dialect.forUpdate}`, [digest]);
  for (const table of ['desk_wholes', 'desk_occurrences']) {
    await runInParts(sql, (some) => `DELETE FROM ${table} WHERE digest = ? AND occurrence IN (${some})`, occurrences, [
      digest,
    ]);
  }
  await rebuildIncident(sql, digest);
  return occurrences.length;
}

/**
 * @param toStatement receives the placeholders of some names, which follow those of `values`
 * @returns the number of changed rows
 */
async function runInParts(
  sql: Sql,
  toStatement: (some: string) => string,
  names: readonly string[],
  values: readonly SqlValue[] = [],
): Promise<number> {
  let changed = 0;
  for (const part of inParts(names)) {
    changed += await sql.run(toStatement(placeholders(part)), [...values, ...part]);
  }
  return changed;
}
