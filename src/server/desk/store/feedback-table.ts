import { toOccurrence } from '../../../shared/engine/address.ts';
import type { Feedback } from '../journal-entry.ts';
import { insertRows, type Sql, type SqlValue } from './sql.ts';
import { toColumn } from './to-column.ts';

interface FeedbackRow {
  readonly id: string;
  readonly event_id: string | null;
  readonly text: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly url: string | null;
  readonly at: number;
  readonly visitor: string | null;
}

/** What is said twice under one id was said once. */
export async function storeFeedback(sql: Sql, feedback: readonly Feedback[]): Promise<void> {
  const rows = feedback.map(({ id, eventId, text, name, email, url, at, visitor }): SqlValue[] => [
    toColumn(id),
    eventId === undefined ? null : toColumn(eventId),
    eventId === undefined ? null : toOccurrence(eventId),
    toColumn(text),
    name === undefined ? null : toColumn(name),
    email === undefined ? null : toColumn(email),
    url === undefined ? null : toColumn(url),
    at,
    visitor === undefined ? null : toColumn(visitor),
  ]);
  const columns = ['id', 'event_id', 'occurrence', 'text', 'name', 'email', 'url', 'at', 'visitor'];
  await insertRows(sql, 'desk_feedback', columns, rows, 'ON CONFLICT (id) DO NOTHING');
}

/** What was said of an incident's occurrences that are kept, the latest first. */
export async function listFeedback(sql: Sql, digest: string, limit: number): Promise<Feedback[]> {
  const rows = await sql.all<FeedbackRow>(
    `SELECT f.id, f.event_id, f.text, f.name, f.email, f.url, f.at, f.visitor FROM desk_feedback f
      JOIN desk_occurrences o ON o.occurrence = f.occurrence AND o.digest = ? ORDER BY f.at DESC LIMIT ?`,
    [digest, limit],
  );
  return rows.map(({ id, event_id: eventId, text, name, email, url, at, visitor }) => ({
    id,
    text,
    at,
    ...(eventId !== null && { eventId }),
    ...(name !== null && { name }),
    ...(email !== null && { email }),
    ...(url !== null && { url }),
    ...(visitor !== null && { visitor }),
  }));
}
