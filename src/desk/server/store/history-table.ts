import { MAX_NOTE_LENGTH } from '../../shared/choices.ts';
import { type IncidentKey, toIncidentKey } from './incident-key.ts';
import { lockIncident } from './incident-table.ts';
import { changeShown, deleteShown, type Sql, toColumn } from './sql.ts';
import type { StoreContext } from './store-context.ts';

/** The kinds of changes. Spillway itself makes `regressed`, `grown` and `ignore-ended`. */
export type ChangeAction =
  | 'opened'
  | 'resolved'
  | 'ignored'
  | 'regressed'
  | 'grown'
  | 'ignore-ended'
  | 'deleted'
  | 'occurrence-deleted'
  | 'note-deleted';

interface NewChange {
  readonly key: IncidentKey;
  /** The token's name. Empty if Spillway itself made the change. */
  readonly author: string;
  readonly action: ChangeAction;
  /**
   * Fields by action. `resolved`: `in`. `ignored`: `until`, `untilMore`. `regressed`: `release`, `build`. `grown`, `deleted`:
   * `count`. `occurrence-deleted`: `occurrence`.
   */
  readonly detail: object;
}

export interface LoggedChange extends NewChange {
  readonly id: number;
  /** Milliseconds since 1970, by the store's clock. */
  readonly at: number;
  readonly detail: Readonly<Record<string, unknown>>;
}

export interface Note {
  readonly id: number;
  readonly key: IncidentKey;
  /** Milliseconds since 1970, by the store's clock. */
  readonly at: number;
  readonly author: string;
  readonly text: string;
}

/** Who deleted an incident, and when (ms since 1970, by the store's clock). */
export interface Deletion {
  readonly author: string;
  readonly at: number;
}

export async function storeChange(sql: Sql, change: NewChange): Promise<void> {
  await sql.run(`INSERT INTO desk_changes (key, at, author, action, detail) VALUES (?, ${sql.dialect.now}, ?, ?, ?)`, [
    change.key,
    toColumn(change.author),
    change.action,
    JSON.stringify(change.detail),
  ]);
}

export type HistoryTable = ReturnType<typeof createHistoryTable>;

/** The notes of an incident, and the log of its changes. */
export function createHistoryTable({ driver, reader, environment: own }: StoreContext) {
  return {
    /** Lists the changes of an incident, the latest first. */
    async listChanges(key: IncidentKey, limit: number): Promise<LoggedChange[]> {
      const rows = await reader.all<Omit<LoggedChange, 'detail'> & { detail: string }>(
        'SELECT id, key, at, author, action, detail FROM desk_changes WHERE key = ? ORDER BY at DESC, id DESC LIMIT ?',
        [key, limit],
      );
      return rows.map((row) => ({ ...row, detail: JSON.parse(row.detail) as Record<string, unknown> }));
    },

    /** Finds the latest deletion of an incident. @param environment that of this process by default */
    async readDeletion(digest: string, environment = own): Promise<Deletion | undefined> {
      const [row] = await reader.all<Deletion>(
        "SELECT author, at FROM desk_changes WHERE key = ? AND action = 'deleted' ORDER BY at DESC LIMIT 1",
        [toIncidentKey(digest, environment)],
      );
      return row;
    },

    /** Lists the notes of an incident, the latest first. */
    listNotes: (key: IncidentKey, limit: number): Promise<Note[]> =>
      reader.all<Note>(
        'SELECT id, key, at, author, text FROM desk_notes WHERE key = ? ORDER BY at DESC, id DESC LIMIT ?',
        [key, limit],
      ),

    /** @returns undefined if there is no such incident */
    addNote: (key: IncidentKey, text: string, author: string): Promise<Note | undefined> =>
      changeShown(driver, async (sql) => {
        if (!(await lockIncident(sql, key))) return undefined;
        const [note] = await sql.all<Note>(
          `INSERT INTO desk_notes (key, at, author, text) VALUES (?, ${sql.dialect.now}, ?, ?) RETURNING id, key, at, author, text`,
          [key, toColumn(author), toColumn(text, MAX_NOTE_LENGTH)],
        );
        return note;
      }),

    /** @returns false if there is no note with this id */
    deleteNote: (id: number, author: string): Promise<boolean> =>
      deleteShown(driver, async (sql) => {
        if (!Number.isSafeInteger(id)) return false; // PostgreSQL refuses other numbers
        const [row] = await sql.all<{ key: IncidentKey }>('DELETE FROM desk_notes WHERE id = ? RETURNING key', [id]);
        if (row) await storeChange(sql, { key: row.key, author, action: 'note-deleted', detail: {} });
        return row !== undefined;
      }),
  };
}
