import { type CallKey, toDigest, toKey } from '../incident-key.ts';
import type { Incident } from '../records.ts';
import { placeholders, type Sql } from '../sql.ts';
import type { StoreContext } from '../store-context.ts';
import { recountVisitors } from '../visitors/visitor-table.ts';
import { changeShown } from './change-feed.ts';
import { type ChangeBy, changeLocked, type NotChanged } from './change-incident.ts';
import { storeChange } from './change-log.ts';
import { listFamily, lockIncident, readIncident } from './incident-table.ts';

type MergeOutcome =
  | { readonly outcome: 'merged' | 'taken-apart'; readonly incident: Incident }
  /** Both are already merged, or the digest to unmerge is not merged. */
  | { readonly outcome: 'nothing-to-do'; readonly incident: Incident }
  | NotChanged;

/**
 * Merges one incident into another. Counts, hours, releases, occurrences and visitors stay under their own
 * digest and are added up when they are read. Its state, notes and log stay too. So an unmerge restores
 * everything as if there had been no merge.
 *
 * @param by `expected` is the version of the incident that is merged into the other
 */
export function mergeIncidents(
  context: StoreContext,
  key: CallKey,
  into: CallKey,
  by: ChangeBy,
): Promise<MergeOutcome> {
  const { home } = context;
  return changeShown(context, (sql) => merge(sql, { digest: toKey(key, home), into: toKey(into, home) }, by));
}

async function merge(
  sql: Sql,
  { digest, into }: { readonly digest: string; readonly into: string },
  by: ChangeBy,
): Promise<MergeOutcome> {
  // Locks in the order that batches use.
  const [first, second] = digest < into ? [digest, into] : [into, digest];
  const low = await lockIncident(sql, first);
  const high = await lockIncident(sql, second);
  if (!low || !high) return { outcome: 'unknown' };
  const [merged, kept] = first === digest ? [low, high] : [high, low];
  if (by.expected !== undefined && by.expected !== merged.version) return { outcome: 'conflict', incident: merged };
  if (merged.key === kept.key) return { outcome: 'nothing-to-do', incident: kept };
  await sql.run(
    `INSERT INTO desk_aliases (digest, occurrence, target, reason, at) VALUES (?, '', ?, 'merged', ${sql.dialect.now})
      ON CONFLICT (digest, occurrence) DO UPDATE SET target = excluded.target, reason = excluded.reason, at = excluded.at`,
    [merged.key, kept.key],
  );
  await setRoot(sql, await listFamily(sql, merged.key), kept.key);
  await settle(sql, [merged.key, kept.key]);
  const detail = { digest: merged.digest };
  await storeChange(sql, { digest: kept.key, author: by.author, action: 'merged', detail });
  return answer(sql, kept.key, 'merged');
}

/** Separates one digest from an incident. Digests that were merged into it earlier stay with it. */
export function unmerge(context: StoreContext, key: CallKey, by: ChangeBy): Promise<MergeOutcome> {
  const digest = toKey(key, context.home);
  return changeLocked(context, key, by, (sql, root) => separate(sql, { digest, root }, by));
}

async function separate(
  sql: Sql,
  { digest, root }: { readonly digest: string; readonly root: Incident },
  by: ChangeBy,
): Promise<MergeOutcome> {
  if (root.key === digest) return { outcome: 'nothing-to-do', incident: root };
  await sql.run("DELETE FROM desk_aliases WHERE digest = ? AND occurrence = ''", [digest]);
  await setRoot(sql, await listMergedBelow(sql, digest), digest);
  await sql.run('UPDATE desk_incidents SET merged_into = NULL WHERE digest = ?', [digest]);
  await settle(sql, [digest, root.key]);
  await storeChange(sql, {
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

/** Lists the digests that were merged into a digest, directly or indirectly. */
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

export const changes = { mergeIncidents, unmerge };
