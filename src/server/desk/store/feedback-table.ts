import { toOccurrence } from '../../../shared/engine/reporting/address.ts';
import { KiB } from '../../../shared/units.ts';
import { type Address, parseAddress } from '../address.ts';
import type { Feedback } from '../ingest/journal-entry.ts';
import { MAX_SAID_WHOLES } from '../limits.ts';
import { toDigest } from './incident-key.ts';
import { listFamily } from './incident-table.ts';
import { insertRows, placeholders, type Sql, type SqlValue } from './sql.ts';
import { toColumn, toOptionalColumn } from './to-column.ts';

/** As much as the tunnel lets through (characters). */
const MAX_TEXT = 4 * KiB;

interface FeedbackRow {
  readonly id: string;
  readonly event_id: string | null;
  readonly digest: string | null;
  readonly occurrence: string | null;
  readonly text: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly url: string | null;
  readonly at: number;
  readonly visitor: string | null;
}

/**
 * Stores feedback once per id, and marks the occurrences that it is about to be kept in full.
 *
 * @param toKey maps a digest to the incident's key in the environment where the feedback was given
 */
export async function storeFeedback(
  sql: Sql,
  feedback: readonly Feedback[],
  toKey: (digest: string) => string,
): Promise<void> {
  const about = feedback.map((said) => {
    const { digest, occurrence } = toSubject(said);
    return { key: digest === undefined ? undefined : toKey(digest), occurrence };
  });
  const rows = feedback.map(({ id, eventId, text, name, email, url, at, visitor }, index): SqlValue[] => {
    return [
      toColumn(id),
      toOptionalColumn(eventId),
      about[index]?.key ?? null,
      about[index]?.occurrence ?? null,
      toColumn(text, MAX_TEXT),
      toOptionalColumn(name),
      toOptionalColumn(email),
      toOptionalColumn(url),
      at,
      toOptionalColumn(visitor),
    ];
  });
  const columns = ['id', 'event_id', 'digest', 'occurrence', 'text', 'name', 'email', 'url', 'at', 'visitor'];
  await insertRows(sql, 'desk_feedback', columns, rows, 'ON CONFLICT (id) DO NOTHING');
  for (const { key, occurrence } of about) {
    if (key !== undefined && occurrence !== undefined) await keepInFull(sql, key, occurrence);
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

/** The failure that a message is about, as far as the message says so. */
export function toSubject({ address = '', eventId }: Pick<Feedback, 'address' | 'eventId'>): Partial<Address> {
  const about = parseAddress(address);
  const occurrence = about?.occurrence ?? (eventId === undefined ? undefined : toOccurrence(eventId));
  return { ...about, ...(occurrence !== undefined && { occurrence }) };
}

/** Feedback about an incident and the incidents merged into it, the latest first. */
export async function listFeedback(sql: Sql, digest: string, limit: number): Promise<Feedback[]> {
  const digests = await listFamily(sql, digest);
  const some = placeholders(digests);
  const rows = await sql.all<FeedbackRow>(
    `SELECT f.id, f.event_id, f.digest, f.occurrence, f.text, f.name, f.email, f.url, f.at, f.visitor FROM desk_feedback f
      WHERE f.digest IN (${some}) ORDER BY f.at DESC, f.id LIMIT ?`,
    [...digests, limit],
  );
  return rows.map(toFeedback);
}

function toFeedback(row: FeedbackRow): Feedback {
  const { id, event_id: eventId, digest, occurrence, text, name, email, url, at, visitor } = row;
  return {
    id,
    text,
    at,
    ...(eventId !== null && { eventId }),
    ...(digest !== null && { address: [toDigest(digest), ...(occurrence === null ? [] : [occurrence])].join('-') }),
    ...(name !== null && { name }),
    ...(email !== null && { email }),
    ...(url !== null && { url }),
    ...(visitor !== null && { visitor }),
  };
}

/** @returns false where it is gone already */
export async function deleteFeedback(sql: Sql, id: string): Promise<boolean> {
  return (await sql.run('DELETE FROM desk_feedback WHERE id = ?', [id])) > 0;
}
