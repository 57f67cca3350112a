import { placeholders, type Sql, type SqlDialect } from './sql.ts';
import { toColumn } from './to-column.ts';

/** What can become of an incident. `regressed`, `grown` and `ignore-ended` it does by itself. */
export type ChangeAction =
  | 'opened'
  | 'resolved'
  | 'ignored'
  | 'assigned'
  | 'regressed'
  | 'grown'
  | 'ignore-ended'
  | 'merged'
  | 'taken-apart'
  | 'deleted'
  | 'occurrence-deleted'
  | 'feedback-deleted'
  | 'note-deleted';

export interface NewChange {
  readonly digest: string;
  /** The token's name; empty where it happened by itself. */
  readonly author: string;
  readonly action: ChangeAction;
  /**
   * `resolved`: `in`. `ignored`: `until`, `growth`. `assigned`: `to`. `regressed`: `release`, `build`.
   * `grown`, `deleted`: `count`. `merged`, `taken-apart`: `digest`. `occurrence-deleted`: `occurrence`.
   */
  readonly detail: object;
}

export interface LoggedChange extends NewChange {
  readonly id: number;
  /** Milliseconds since 1970, by the store's clock. */
  readonly at: number;
  readonly detail: Readonly<Record<string, unknown>>;
}

export async function storeChange(sql: Sql, { now }: SqlDialect, change: NewChange): Promise<void> {
  await sql.run(`INSERT INTO desk_changes (digest, at, author, action, detail) VALUES (?, ${now}, ?, ?, ?)`, [
    change.digest,
    toColumn(change.author),
    change.action,
    JSON.stringify(change.detail),
  ]);
}

/** The latest first. */
export async function listChanges(sql: Sql, digests: readonly string[], limit: number): Promise<LoggedChange[]> {
  const rows = await sql.all<Omit<LoggedChange, 'detail'> & { detail: string }>(
    `SELECT id, digest, at, author, action, detail FROM desk_changes WHERE digest IN (${placeholders(digests)})
      ORDER BY at DESC, id DESC LIMIT ?`,
    [...digests, limit],
  );
  return rows.map((row) => ({ ...row, detail: JSON.parse(row.detail) as Record<string, unknown> }));
}

/** Who deleted the last incident of these keys, and when. */
export async function readDeletion(sql: Sql, keys: readonly string[]): Promise<Deletion | undefined> {
  const [row] = await sql.all<Deletion>(
    `SELECT author, at FROM desk_changes WHERE digest IN (${placeholders(keys)}) AND action = 'deleted'
      ORDER BY at DESC LIMIT 1`,
    keys,
  );
  return row;
}

export interface Deletion {
  readonly author: string;
  /** Milliseconds since 1970, by the store's clock. */
  readonly at: number;
}

export interface Note {
  readonly id: number;
  readonly digest: string;
  /** Milliseconds since 1970, by the store's clock. */
  readonly at: number;
  readonly author: string;
  readonly text: string;
}

/** As long as what a visitor may say (characters). */
export const MAX_NOTE_LENGTH = 4096;

export async function storeNote(
  sql: Sql,
  { now }: SqlDialect,
  { digest, author, text }: Pick<Note, 'digest' | 'author' | 'text'>,
): Promise<Note | undefined> {
  const [note] = await sql.all<Note>(
    `INSERT INTO desk_notes (digest, at, author, text) VALUES (?, ${now}, ?, ?) RETURNING id, digest, at, author, text`,
    [digest, toColumn(author), toColumn(text, MAX_NOTE_LENGTH)],
  );
  return note;
}

/** The latest first. */
export function listNotes(sql: Sql, digests: readonly string[], limit: number): Promise<Note[]> {
  return sql.all<Note>(
    `SELECT id, digest, at, author, text FROM desk_notes WHERE digest IN (${placeholders(digests)})
      ORDER BY at DESC, id DESC LIMIT ?`,
    [...digests, limit],
  );
}

/** @returns the incident that it stood under; undefined where it is gone already */
export async function deleteNote(sql: Sql, id: number): Promise<string | undefined> {
  const [row] = await sql.all<{ digest: string }>('DELETE FROM desk_notes WHERE id = ? RETURNING digest', [id]);
  return row?.digest;
}
