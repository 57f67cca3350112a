import { rebuildSearch } from '../incidents/search-table.ts';
import { toFactColumns } from '../ingest/store-incidents.ts';
import { readFacts } from '../ingest/tally.ts';
import { assignments, type Sql } from '../sql.ts';
import { readWholes, rebuildDictionary } from './dictionary-table.ts';

/** The most full records that are read, more than the search text has room for. */
const MAX_READ = 50;

/**
 * Rebuilds the title, message, source location and search text of an incident from its remaining full
 * records, and the dictionary that they are packed with. If none remains, the incident keeps its kind, class
 * and location, and the next full record fills in the rest. Call it in a transaction that has locked the
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
    // Emptied rather than masked, because masking does not recognize names.
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
