import { randomUUID } from 'node:crypto';
import type { User } from './accounts/auth.ts';
import type { Database, Note } from './database/tables.ts';

/** Lists the newest notes of a user first. */
export function listNotes(db: Database, user: User): Promise<Note[]> {
  return db
    .selectFrom('note')
    .selectAll()
    .where('userId', '=', user.id)
    .orderBy('createdAt', 'desc')
    .limit(100)
    .execute();
}

export async function addNote(db: Database, user: User, text: string): Promise<void> {
  const note = { id: randomUUID(), userId: user.id, text, createdAt: new Date().toISOString() };
  await db.insertInto('note').values(note).execute();
}
