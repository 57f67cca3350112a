import { toOccurrence } from '../../../shared/engine/address.ts';
import { KiB } from '../../../shared/units.ts';
import { type Address, parseAddress } from '../address.ts';
import type { Feedback } from '../journal-entry.ts';
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

/** What is said twice under one id was said once. */
export async function storeFeedback(sql: Sql, feedback: readonly Feedback[]): Promise<void> {
  const rows = feedback.map((said): SqlValue[] => {
    const { id, eventId, text, name, email, url, at, visitor } = said;
    const { digest, occurrence } = toSubject(said);
    return [
      toColumn(id),
      toOptionalColumn(eventId),
      digest ?? null,
      occurrence ?? null,
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
}

/** The failure that a message is about, as far as the message says so. */
export function toSubject({ address = '', eventId }: Pick<Feedback, 'address' | 'eventId'>): Partial<Address> {
  const about = parseAddress(address);
  const occurrence = about?.occurrence ?? (eventId === undefined ? undefined : toOccurrence(eventId));
  return { ...about, ...(occurrence !== undefined && { occurrence }) };
}

/**
 * What was said of an incident, the latest first: of its occurrences that are kept, of echoes and
 * other addresses that lead to them, and of what was merged into it.
 */
export async function listFeedback(sql: Sql, digest: string, limit: number): Promise<Feedback[]> {
  const digests = await listFamily(sql, digest);
  const some = placeholders(digests);
  const rows = await sql.all<FeedbackRow>(
    `SELECT f.id, f.event_id, f.digest, f.occurrence, f.text, f.name, f.email, f.url, f.at, f.visitor FROM desk_feedback f
      WHERE f.digest IN (${some})
        OR EXISTS (SELECT 1 FROM desk_occurrences o WHERE o.occurrence = f.occurrence AND o.digest IN (${some}))
        OR EXISTS (SELECT 1 FROM desk_aliases a
          WHERE a.occurrence = f.occurrence AND a.occurrence <> '' AND substr(a.target, 1, 8) IN (${some}))
      ORDER BY f.at DESC, f.id LIMIT ?`,
    [...digests, ...digests, ...digests, limit],
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
    ...(digest !== null && { address: occurrence === null ? digest : `${digest}-${occurrence}` }),
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
