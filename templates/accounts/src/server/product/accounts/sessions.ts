import type { Request, Response } from 'express';
import { requestInfo } from '#engine/server';
import type { Database } from '../database/tables.ts';
import { createToken, inFuture, now, toHash } from './tokens.ts';
import type { User } from './users.ts';

const SESSION_TIME = 30 * 24 * 60 * 60 * 1000;

/** Starts a session. @returns its token */
export async function startSession(db: Database, { id: userId }: User): Promise<string> {
  const token = createToken();
  await db
    .insertInto('sessions')
    .values({ tokenHash: toHash(token), userId, expiresAt: inFuture(SESSION_TIME) })
    .execute();
  return token;
}

export async function endSession(db: Database, token: string): Promise<void> {
  await db.deleteFrom('sessions').where('tokenHash', '=', toHash(token)).execute();
}

/** Returns the signed-in user. Without a cookie, it does not ask the database. */
export async function findUser(db: Database, request: Request): Promise<User | undefined> {
  const token = readToken(request);
  if (token === undefined) return undefined;
  return db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.userId')
    .select(['users.id', 'users.email'])
    .where('tokenHash', '=', toHash(token))
    .where('expiresAt', '>', now())
    .executeTakeFirst();
}

export function readToken(request: Request): string | undefined {
  const pairs = (request.headers.cookie ?? '').split(/; */).map((pair) => pair.split('=', 2));
  return pairs.find(([name]) => name === toName(request))?.[1];
}

/** @param token undefined deletes the cookie */
export function writeToken(request: Request, response: Response, token: string | undefined): void {
  const options = { httpOnly: true, sameSite: 'lax', secure: requestInfo(request).secure, path: '/' } as const;
  if (token === undefined) response.clearCookie(toName(request), options);
  else response.cookie(toName(request), token, { ...options, maxAge: SESSION_TIME });
}

/** With this prefix, browsers accept the cookie only over HTTPS and from this host. */
function toName(request: Request): string {
  return requestInfo(request).secure ? '__Host-session' : 'session';
}
