import { toOccurrence } from '../../../../shared/engine/reporting/address.ts';
import { KiB } from '../../../../shared/units.ts';
import { type Address, parseAddress } from '../../../engine/errors/parse-address.ts';
import type { Feedback } from '../../../reports/feedback/feedback.ts';
import { MAX_SAID_WHOLES } from '../../limits.ts';
import { type CallKey, toDigest, toKey } from '../incident-key.ts';
import { changeShown } from '../incidents/change-feed.ts';
import { storeChange } from '../incidents/change-log.ts';
import { listFamily } from '../incidents/incident-table.ts';
import { insertRows, placeholders, readShapes, type Sql } from '../sql.ts';
import type { StoreContext } from '../store-context.ts';
import { toColumn, toOptionalColumn } from '../to-column.ts';

/** The longest text that the tunnel accepts (characters). */
const MAX_TEXT = 4 * KiB;

/**
 * Stores feedback, once per id, and marks the full records that it is about, so that they are kept.
 *
 * @param toKey maps a digest to the incident's key in the environment where the feedback was given
 */
export async function storeFeedback(
  sql: Sql,
  feedback: readonly Feedback[],
  toKey: (digest: string) => string,
): Promise<void> {
  const about = feedback.map((said) => {
    const { digest, occurrence = null } = toSubject(said);
    return { digest: digest === undefined ? null : toKey(digest), occurrence };
  });
  const rows = feedback.map(({ at, ...said }, index) => ({
    id: toColumn(said.id),
    event_id: toOptionalColumn(said.eventId),
    ...about[index],
    text: toColumn(said.text, MAX_TEXT),
    name: toOptionalColumn(said.name),
    email: toOptionalColumn(said.email),
    url: toOptionalColumn(said.url),
    at,
    visitor: toOptionalColumn(said.visitor),
  }));
  await insertRows(sql, 'desk_feedback', rows, 'ON CONFLICT (id) DO NOTHING');
  for (const { digest, occurrence } of about) {
    if (digest !== null && occurrence !== null) await keepInFull(sql, digest, occurrence);
  }
}

async function keepInFull(sql: Sql, key: string, occurrence: string): Promise<void> {
  await sql.run(
    `UPDATE desk_wholes SET role = 'said' WHERE digest = ? AND occurrence = ?
      AND (SELECT COUNT(*) FROM desk_wholes w WHERE w.digest = ? AND w.role = 'said') < ${MAX_SAID_WHOLES}`,
    [key, occurrence, key],
  );
}

/** Adds the digest to feedback that earlier releases stored without one. */
export async function assignFeedback(sql: Sql): Promise<void> {
  await sql.run(
    `UPDATE desk_feedback SET digest = (SELECT o.digest FROM desk_occurrences o WHERE o.occurrence = desk_feedback.occurrence LIMIT 1)
      WHERE digest IS NULL AND occurrence IS NOT NULL`,
  );
}

/** Returns the digest and occurrence that feedback is about, as far as it names them. */
export function toSubject({ address = '', eventId }: Pick<Feedback, 'address' | 'eventId'>): Partial<Address> {
  const about = parseAddress(address);
  const occurrence = about?.occurrence ?? (eventId === undefined ? undefined : toOccurrence(eventId));
  return { ...about, ...(occurrence !== undefined && { occurrence }) };
}

/** Lists the feedback about an incident and the incidents merged into it, the latest first. */
export async function listFeedback({ reader, home }: StoreContext, key: CallKey, limit: number): Promise<Feedback[]> {
  const digests = await listFamily(reader, toKey(key, home));
  const some = placeholders(digests);
  const rows = await readShapes<Omit<Feedback, 'address'> & Partial<Address>>(
    reader,
    `SELECT id, event_id AS "eventId", digest, occurrence, text, name, email, url, at, visitor FROM desk_feedback
      WHERE digest IN (${some}) ORDER BY at DESC, id LIMIT ?`,
    [...digests, limit],
  );
  return rows.map(({ digest, occurrence, ...said }) => {
    if (digest === undefined) return said;
    return { ...said, address: [toDigest(digest), ...(occurrence === undefined ? [] : [occurrence])].join('-') };
  });
}

/** @param key the incident whose log records the deletion. @returns false if the feedback is already deleted */
export function deleteFeedback(context: StoreContext, key: CallKey, id: string, author: string): Promise<boolean> {
  return changeShown(context, async (sql) => {
    if ((await sql.run('DELETE FROM desk_feedback WHERE id = ?', [id])) === 0) return false;
    await storeChange(sql, { digest: toKey(key, context.home), author, action: 'feedback-deleted', detail: {} });
    return true;
  });
}

export const queries = { listFeedback };
export const changes = { deleteFeedback };
