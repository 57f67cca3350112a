import { rebuildSearch } from '../incidents/search-table.ts';
import { toFactColumns } from '../ingest/store-incidents.ts';
import { readFacts } from '../ingest/tally.ts';
import { assignments, type Sql } from '../sql.ts';
import { readWholes, rebuildDictionary } from './dictionary-table.ts';

/** Full records that are read (a count): more than the search text has room for. */
const MAX_READ = 50;

/**
 * Rebuilds the title, message, place and search text of an incident from the full records that are left,
 * and the dictionary that those are packed with. If none is left, the incident keeps its kind, class and
 * place in the source, and the next full record fills in the rest. In a transaction that holds the
 * incident.
 */
export async function rebuildIncident(sql: Sql, digest: string): Promise<void> {
  const left = await readWholes(sql, digest, MAX_READ);
  const [oldest] = left;
  if (oldest) {
    const facts = toFactColumns(readFacts(oldest));
    await sql.run(`UPDATE desk_incidents SET ${assignments(facts)}, version = version + 1 WHERE digest = ?`, [
      ...Object.values(facts),
      digest,
    ]);
  } else {
    // Not masked: a name is a word like any other.
    await sql.run(
      `UPDATE desk_incidents SET rule = 0, title = CASE WHEN class = '' THEN kind ELSE class END, message = '',
        site_detail = CASE WHEN site_path IS NULL THEN NULL ELSE '' END, shape = NULL, version = version + 1
        WHERE digest = ?`,
      [digest],
    );
  }
  await rebuildSearch(sql, digest, left);
  await rebuildDictionary(sql, digest, left);
}
