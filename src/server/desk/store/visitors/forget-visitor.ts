import { noteChange } from '../incidents/change-feed.ts';
import { mergeIndex } from '../incidents/search-table.ts';
import { removeOccurrences, removeReferences } from '../occurrences/remove-occurrences.ts';
import { readPages } from '../read-pages.ts';
import { placeholders, type Sql } from '../sql.ts';
import type { StoreContext } from '../store-context.ts';
import { createToMarks, listForgotten, storeForgotten, type Traced } from './forgotten-table.ts';
import { createExchange, exchangeVisitors, listDigestsOf } from './visitor-table.ts';

/** The visitor to delete. */
export interface Forgotten {
  /** The visitor's hashes, one for each day. */
  readonly visitors?: readonly string[];
  /** The email from feedback, in any case. */
  readonly email?: string;
  /** The name of one occurrence, as in its address. */
  readonly occurrence?: string;
}

/** The number of deleted rows, and the names of deleted occurrences. */
interface Forgot {
  readonly occurrences: number;
  readonly feedback: number;
  /** As in addresses, including the names of echoes. */
  readonly names: ReadonlySet<string>;
}

/** The number of rows that are read at a time. */
const PAGE = 5000;

/**
 * Deletes a visitor's occurrences and feedback, and rebuilds the texts of their incidents. Counts and the
 * number of visitors stay. Each incident has a separate transaction, so that other writers wait less. If
 * the deletion is interrupted, repeat it.
 */
export async function forgetVisitor({ driver }: StoreContext, whom: Forgotten): Promise<Forgot> {
  const { visitors = [] } = whom;
  const { groups, names, feedback } = await driver.transaction(async (sql) => {
    // First, so that journal entries that are not stored yet are left out from here on.
    await storeForgotten(sql, { ...whom, visitors });
    const found = await findOccurrences(sql, whom);
    const said = await deleteFeedback(sql, whom);
    const references = await removeReferences(sql, new Set([...found.values()].flat()));
    return { groups: found, names: references.names, feedback: said + references.feedback };
  });
  const exchange = createExchange(visitors);
  const digests = new Set([...groups.keys(), ...(await listDigestsOf(driver, exchange))]);
  let occurrences = 0;
  for (const digest of [...digests].sort()) {
    await driver.transaction(async (sql) => {
      occurrences += await forgetInIncident(sql, digest, groups.get(digest) ?? []);
      await exchangeVisitors(sql, digest, exchange);
    });
  }
  await driver.transaction(noteChange);
  await mergeIndex(driver);
  await driver.overwriteDeleted();
  return { occurrences, feedback, names };
}

async function forgetInIncident(sql: Sql, digest: string, occurrences: readonly string[]): Promise<number> {
  return occurrences.length === 0 ? 0 : removeOccurrences(sql, digest, occurrences);
}

/** Returns the visitor's occurrences by digest. */
async function findOccurrences(
  sql: Sql,
  { visitors = [], occurrence }: Forgotten,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await sql.all<{ digest: string; occurrence: string }>(
    `SELECT digest, occurrence FROM desk_occurrences WHERE visitor IN (${placeholders(visitors) || 'NULL'}) OR occurrence = ?`,
    [...visitors, occurrence ?? null],
  );
  return toGroups(rows);
}

function toGroups(
  rows: readonly { readonly digest: string; readonly occurrence: string }[],
): ReadonlyMap<string, readonly string[]> {
  const groups = Map.groupBy(rows, ({ digest }) => digest);
  return new Map([...groups].map(([digest, some]) => [digest, some.map(({ occurrence }) => occurrence)]));
}

async function deleteFeedback(sql: Sql, { visitors = [], email }: Forgotten): Promise<number> {
  return sql.run(
    `DELETE FROM desk_feedback WHERE visitor IN (${placeholders(visitors) || 'NULL'}) OR lower(email) = lower(?)`,
    [...visitors, email ?? null],
  );
}

/**
 * Applies all deletion marks to the whole store, in a transaction. A restored backup can contain visitors
 * who were deleted after it was made.
 */
export async function forgetMarked(sql: Sql): Promise<void> {
  const marks = new Map((await listForgotten(sql)).map(({ mark, at }) => [mark, at]));
  if (marks.size === 0) return;
  const toMarks = await createToMarks(sql);
  const isForgotten = (row: Traced) =>
    toMarks(row).some((mark) => row.at <= (marks.get(mark) ?? Number.NEGATIVE_INFINITY));

  const found: OccurrenceRow[] = [];
  const occurrences = {
    table: 'desk_occurrences',
    key: ['digest', 'occurrence'],
    columns: ['digest', 'occurrence', 'visitor', 'at'],
    where: 'visitor IS NOT NULL',
    page: PAGE,
  };
  for await (const rows of readPages<OccurrenceRow>(sql, occurrences)) {
    found.push(...rows.filter(isForgotten));
  }
  const feedback = { table: 'desk_feedback', key: ['id'], columns: ['id', 'visitor', 'email', 'at'], page: PAGE };
  for await (const rows of readPages<FeedbackRow>(sql, feedback)) {
    for (const { id } of rows.filter(isForgotten)) await sql.run('DELETE FROM desk_feedback WHERE id = ?', [id]);
  }
  await removeReferences(sql, new Set(found.map(({ occurrence }) => occurrence)));
  for (const [digest, some] of toGroups(found)) await removeOccurrences(sql, digest, some);
  const exchange = createExchange(found.map(({ visitor }) => visitor));
  for (const digest of await listDigestsOf(sql, exchange)) await exchangeVisitors(sql, digest, exchange);
}

interface OccurrenceRow extends Traced {
  readonly digest: string;
  readonly occurrence: string;
  readonly visitor: string;
}

interface FeedbackRow extends Traced {
  readonly id: string;
}

export const queries = { forgetVisitor };
