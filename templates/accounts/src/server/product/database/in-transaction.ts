import type { Database } from './tables.ts';

/** Runs queries that belong together: all of them count, or none. If `db` already is a transaction, they join it. */
export function inTransaction<Result>(db: Database, work: (db: Database) => Promise<Result>): Promise<Result> {
  return db.isTransaction ? work(db) : db.transaction().execute(work);
}
