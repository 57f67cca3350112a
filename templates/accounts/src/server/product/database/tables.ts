import type { Kysely } from 'kysely';

export type Database = Kysely<Tables>;

/** Columns that your queries use. Times are texts such as 2026-01-31T12:00:00.000Z. */
export interface Tables {
  /** Has all columns that better-auth adds: https://better-auth.com/docs/concepts/database */
  user: { id: string; email: string };
  session: { expiresAt: string };
  note: Note;
  migration: { name: string };
}

export interface Note {
  id: string;
  userId: string;
  text: string;
  createdAt: string;
}
