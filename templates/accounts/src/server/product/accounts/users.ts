import { randomUUID } from 'node:crypto';
import { inTransaction } from '../database/in-transaction.ts';
import type { Database } from '../database/tables.ts';
import { hashPassword, isPassword } from './passwords.ts';
import { now } from './tokens.ts';

/** What pages and the API know of the signed-in user. */
export interface User {
  readonly id: string;
  readonly email: string;
}

export async function hasUser(db: Database, email: string): Promise<boolean> {
  return (await db.selectFrom('users').select('id').where('email', '=', email).executeTakeFirst()) !== undefined;
}

/** Returns undefined if the user is unknown or the password is not correct. Both take the same time. */
export async function findByPassword(db: Database, email: string, password: string): Promise<User | undefined> {
  const found = await db.selectFrom('users').selectAll().where('email', '=', email).executeTakeFirst();
  const isCorrect = await isPassword(password, found?.passwordHash);
  return found && isCorrect ? { id: found.id, email: found.email } : undefined;
}

/** Creates the user, or changes the password. Ends all sessions and links, because someone else may have them. */
export async function setPassword(db: Database, email: string, password: string): Promise<User> {
  const passwordHash = await hashPassword(password);
  return inTransaction(db, async (db) => {
    const user = await db
      .insertInto('users')
      .values({ id: randomUUID(), email, passwordHash, createdAt: now() })
      .onConflict((conflict) => conflict.column('email').doUpdateSet({ passwordHash }))
      .returning(['id', 'email'])
      .executeTakeFirstOrThrow();
    await db.deleteFrom('sessions').where('userId', '=', user.id).execute();
    await db.deleteFrom('links').where('email', '=', email).execute();
    return user;
  });
}

/** Deletes the user, and by the foreign keys everything that belongs to them. */
export async function deleteUser(db: Database, { id, email }: User): Promise<void> {
  await inTransaction(db, async (db) => {
    await db.deleteFrom('links').where('email', '=', email).execute();
    await db.deleteFrom('users').where('id', '=', id).execute();
  });
}
