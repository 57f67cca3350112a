import { type CallKey, toKey } from '../incident-key.ts';
import { placeholders } from '../sql.ts';
import type { StoreContext } from '../store-context.ts';
import { toColumn } from '../to-column.ts';
import { changeShown } from './change-feed.ts';
import { storeChange } from './change-log.ts';
import { listFamily, lockIncident } from './incident-table.ts';

export interface Note {
  readonly id: number;
  readonly digest: string;
  /** Milliseconds since 1970, by the store's clock. */
  readonly at: number;
  readonly author: string;
  readonly text: string;
}

/** The same limit as for a visitor's feedback (characters). */
export const MAX_NOTE_LENGTH = 4096;

/** @returns undefined if there is no such incident */
export function addNote(context: StoreContext, key: CallKey, text: string, author: string): Promise<Note | undefined> {
  return changeShown(context, async (sql) => {
    const incident = await lockIncident(sql, toKey(key, context.home));
    if (!incident) return undefined;
    const [note] = await sql.all<Note>(
      `INSERT INTO desk_notes (digest, at, author, text) VALUES (?, ${sql.dialect.now}, ?, ?) RETURNING id, digest, at, author, text`,
      [incident.key, toColumn(author), toColumn(text, MAX_NOTE_LENGTH)],
    );
    return note;
  });
}

/** Lists the notes of an incident, the latest first. */
export async function listNotes({ reader, home }: StoreContext, key: CallKey, limit: number): Promise<Note[]> {
  const digests = await listFamily(reader, toKey(key, home));
  return reader.all<Note>(
    `SELECT id, digest, at, author, text FROM desk_notes WHERE digest IN (${placeholders(digests)})
      ORDER BY at DESC, id DESC LIMIT ?`,
    [...digests, limit],
  );
}

/** @returns false if it is already deleted */
export function deleteNote(context: StoreContext, id: number, author: string): Promise<boolean> {
  return changeShown(context, async (sql) => {
    const [row] = await sql.all<{ digest: string }>('DELETE FROM desk_notes WHERE id = ? RETURNING digest', [id]);
    if (!row) return false;
    await storeChange(sql, { digest: row.digest, author, action: 'note-deleted', detail: {} });
    return true;
  });
}

export const queries = { listNotes };
export const changes = { addNote, deleteNote };
