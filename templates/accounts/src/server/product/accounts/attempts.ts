import { sql } from 'kysely';
import { publicError } from '#engine';
import type { Database } from '../database/tables.ts';
import { inFuture, now, toHash } from './tokens.ts';

const MINUTES = 15;

/**
 * Counts an attempt, before its result is known. Stops the request with 429 after too many attempts in 15 minutes.
 *
 * @param what such as `sign in to ada@example.com`; only its hash is stored
 */
export async function limitAttempts(db: Database, what: string, most: number): Promise<void> {
  const endsAt = inFuture(MINUTES * 60 * 1000);
  const { count } = await db
    .insertInto('attempts')
    .values({ key: toHash(what), count: 1, endsAt })
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet({
        count: sql`CASE WHEN attempts.ends_at <= ${now()} THEN 1 ELSE attempts.count + 1 END`,
        endsAt: sql`CASE WHEN attempts.ends_at <= ${now()} THEN ${endsAt} ELSE attempts.ends_at END`,
      }),
    )
    .returning('count')
    .executeTakeFirstOrThrow();
  if (count > most) publicError(429, `There were too many attempts. Wait ${MINUTES} minutes, then try again.`);
}

export async function forgetAttempts(db: Database, what: string): Promise<void> {
  await db.deleteFrom('attempts').where('key', '=', toHash(what)).execute();
}
