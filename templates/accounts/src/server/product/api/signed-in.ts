import { type Auth, session } from '#engine/server';
import { findUser } from '../accounts/sessions.ts';
import type { User } from '../accounts/users.ts';
import type { Database } from '../database/tables.ts';

/** For operations that need a signed-in user: `implement(operations, handlers, { auth: signedIn(db) })`. */
export function signedIn(db: Database): Auth<User> {
  return session((request) => findUser(db, request), '__Host-session');
}
