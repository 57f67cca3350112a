import type { Database } from '../database/tables.ts';
import { createToken, inFuture, now, toHash } from './tokens.ts';

const LINK_TIME = 60 * 60 * 1000;

/** Creates a link that proves that its reader has the email address. It works once, within an hour. @returns its token */
export async function createLink(db: Database, email: string): Promise<string> {
  const token = createToken();
  await db
    .insertInto('links')
    .values({ tokenHash: toHash(token), email, expiresAt: inFuture(LINK_TIME) })
    .execute();
  return token;
}

/** Returns the email address of a link; undefined if the link has expired or was used. */
export async function readLink(db: Database, token: string): Promise<string | undefined> {
  const link = await db
    .selectFrom('links')
    .select('email')
    .where('tokenHash', '=', toHash(token))
    .where('expiresAt', '>', now())
    .executeTakeFirst();
  return link?.email;
}

/** The same, and the link does not work again. */
export async function takeLink(db: Database, token: string): Promise<string | undefined> {
  const link = await db
    .deleteFrom('links')
    .where('tokenHash', '=', toHash(token))
    .where('expiresAt', '>', now())
    .returning('email')
    .executeTakeFirst();
  return link?.email;
}
