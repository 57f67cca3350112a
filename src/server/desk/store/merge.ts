import { type ChangeBy, lockIncident } from './change-incident.ts';
import { storeChange } from './change-log.ts';
import { toDigest } from './incident-key.ts';
import { listFamily, readIncident } from './incident-table.ts';
import type { Incident } from './records.ts';
import { placeholders, type Sql, type SqlDialect } from './sql.ts';
import { recountVisitors } from './visitor-table.ts';

export type MergeOutcome =
  | { readonly outcome: 'merged' | 'taken-apart'; readonly incident: Incident }
  | { readonly outcome: 'conflict'; readonly incident: Incident }
  /** Both are one already, or what is to be taken apart is not merged. */
  | { readonly outcome: 'nothing-to-do'; readonly incident: Incident }
  | { readonly outcome: 'unknown' };

/**
 * Lets one incident stand for another too, in a transaction. Counts, hours, releases, occurrences and
 * visitors stay under the digest that they came with and are added up when read; its state, notes and
 * log stay too. So taking apart brings back what would be there without the merge.
 *
 * @param by with `expected`, the version of the one that is merged
 */
export async function mergeIncidents(
  sql: Sql,
  dialect: SqlDialect,
  digest: string,
  into: string,
  by: ChangeBy,
): Promise<MergeOutcome> {
  // In the order in which batches lock them.
  const [first, second] = digest < into ? [digest, into] : [into, digest];
  const low = await lockIncident(sql, dialect, first);
  const high = await lockIncident(sql, dialect, second);
  if (!low || !high) return { outcome: 'unknown' };
  const [merged, kept] = first === digest ? [low, high] : [high, low];
  if (by.expected !== undefined && by.expected !== merged.version) return { outcome: 'conflict', incident: merged };
  if (merged.key === kept.key) return { outcome: 'nothing-to-do', incident: kept };
  await sql.run(
    `INSERT INTO desk_aliases (digest, occurrence, target, reason, at) VALUES (?, '', ?, 'merged', ${dialect.now})
      ON CONFLICT (digest, occurrence) DO UPDATE SET target = excluded.target, reason = excluded.reason, at = excluded.at`,
    [merged.key, kept.key],
  );
  await setRoot(sql, await listFamily(sql, merged.key), kept.key);
  await settle(sql, [merged.key, kept.key]);
  const detail = { digest: merged.digest };
  await storeChange(sql, dialect, { digest: kept.key, author: by.author, action: 'merged', detail });
  return answer(sql, kept.key, 'merged');
}

/** The reverse, for one digest of an incident, in a transaction. What was merged into that one before stays with it. */
export async function takeApart(sql: Sql, dialect: SqlDialect, digest: string, by: ChangeBy): Promise<MergeOutcome> {
  const root = await lockIncident(sql, dialect, digest);
  if (!root) return { outcome: 'unknown' };
  if (by.expected !== undefined && by.expected !== root.version) return { outcome: 'conflict', incident: root };
  if (root.key === digest) return { outcome: 'nothing-to-do', incident: root };
  await sql.run("DELETE FROM desk_aliases WHERE digest = ? AND occurrence = ''", [digest]);
  await setRoot(sql, await listMergedBelow(sql, digest), digest);
  await sql.run('UPDATE desk_incidents SET merged_into = NULL WHERE digest = ?', [digest]);
  await settle(sql, [digest, root.key]);
  await storeChange(sql, dialect, {
    digest: root.key,
    author: by.author,
    action: 'taken-apart',
    detail: { digest: toDigest(digest) },
  });
  return answer(sql, digest, 'taken-apart');
}

async function setRoot(sql: Sql, digests: readonly string[], root: string): Promise<void> {
  if (digests.length === 0) return;
  await sql.run(`UPDATE desk_incidents SET merged_into = ? WHERE digest IN (${placeholders(digests)})`, [
    root,
    ...digests,
  ]);
}

/** What was merged into a digest, and into those. */
async function listMergedBelow(sql: Sql, digest: string): Promise<string[]> {
  const rows = await sql.all<{ digest: string }>(
    `WITH RECURSIVE below (digest) AS (
      SELECT digest FROM desk_aliases WHERE target = ? AND occurrence = '' AND reason = 'merged'
      UNION SELECT a.digest FROM desk_aliases a JOIN below b ON a.target = b.digest
        WHERE a.occurrence = '' AND a.reason = 'merged'
    ) SELECT digest FROM below`,
    [digest],
  );
  return rows.map((row) => row.digest);
}

async function settle(sql: Sql, digests: readonly string[]): Promise<void> {
  for (const digest of digests) {
    await sql.run(
      `UPDATE desk_incidents SET version = version + 1,
        merged_count = (SELECT COUNT(*) FROM desk_incidents f WHERE f.merged_into = ?) WHERE digest = ?`,
      [digest, digest],
    );
    await recountVisitors(sql, digest);
  }
}

async function answer(sql: Sql, digest: string, outcome: 'merged' | 'taken-apart'): Promise<MergeOutcome> {
  const incident = await readIncident(sql, digest);
  return incident ? { outcome, incident } : { outcome: 'unknown' };
}
