import { setPassword } from '../accounts/users.ts';
import type { Database } from './tables.ts';

/** The account of the examples. */
export const SEED_USER = { email: 'ada@example.com', password: 'correct horse battery' };

/** Fills an empty database with examples for development: `SEED=on npm run dev`. */
export async function seed(db: Database): Promise<void> {
  const { count } = await db
    .selectFrom('users')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  if (count === 0) await setPassword(db, SEED_USER.email, SEED_USER.password);
}
