import type { Database } from '../database/tables.ts';
import { now } from './tokens.ts';

/** Deletes what no longer works. */
export async function deleteExpired(db: Database): Promise<void> {
  await db.deleteFrom('sessions').where('expiresAt', '<=', now()).execute();
  await db.deleteFrom('links').where('expiresAt', '<=', now()).execute();
  await db.deleteFrom('attempts').where('endsAt', '<=', now()).execute();
}
