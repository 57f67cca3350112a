import type { BetterAuthOptions } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';
import { sql } from 'kysely';
import { migrations as all } from './migrations.ts';
import type { OpenDatabase } from './open-database.ts';

/**
 * Adds the tables of better-auth, runs the migrations that the database does not have yet, and deletes expired sessions,
 * in one transaction. Unknown migrations are accepted, so that you can go back to an earlier version of the app.
 */
export async function migrate(opened: OpenDatabase, auth: BetterAuthOptions, migrations = all): Promise<void> {
  const { type } = opened;
  await opened.db.transaction().execute(async (db) => {
    if (type === 'postgres') {
      await sql`SET LOCAL statement_timeout = 0`.execute(db);
      // Servers that start together wait for each other.
      await sql`SELECT pg_advisory_xact_lock(hashtext('migrations'))`.execute(db);
    }
    await (await getMigrations({ ...auth, database: { db, type } })).runMigrations();
    await db.schema
      .createTable('migration')
      .ifNotExists()
      .addColumn('name', 'text', (column) => column.primaryKey())
      .execute();
    const done = new Set((await db.selectFrom('migration').select('name').execute()).map(({ name }) => name));
    for (const [name, run] of Object.entries(migrations)) {
      if (done.has(name)) continue;
      try {
        await run(db);
      } catch (cause) {
        throw new Error(`The migration ${name} failed.`, { cause });
      }
      await db.insertInto('migration').values({ name }).execute();
    }
    await db.deleteFrom('session').where('expiresAt', '<=', new Date().toISOString()).execute();
  });
  opened.limitQueries();
}
