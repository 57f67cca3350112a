import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from './tables.ts';

interface MigrateOptions {
  /** Begins a transaction that waits while another process migrates. */
  readonly lock: string;
  /** Runs a script of several statements on a connection. */
  readonly run: (script: string, connection: Database) => Promise<unknown>;
}

/**
 * Runs the migrations that the database does not have yet, unless they have only comments. If one fails, none of them is kept. A database that has
 * unknown migrations is accepted, so that you can go back to an earlier version of the app.
 *
 * @param migrations scripts by name, in their order
 * @throws Error if the script of a migration was changed after it ran, or if one fails
 */
export function migrate(
  db: Database,
  migrations: Readonly<Record<string, string>>,
  { lock, run }: MigrateOptions,
): Promise<void> {
  return db.connection().execute(async (connection) => {
    await sql.raw(lock).execute(connection);
    try {
      await run(
        'CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY, hash text NOT NULL, applied_at timestamptz NOT NULL)',
        connection,
      );
      const applied = await connection.selectFrom('migrations').select(['name', 'hash']).execute();
      for (const [name, script] of Object.entries(migrations)) {
        const hash = toHash(script);
        const before = applied.find((row) => row.name === name);
        if (before && before.hash !== hash) throw new Error(toRefusal(name));
        if (before || isUnwritten(script)) continue;
        await run(script, connection).catch((cause) => {
          throw new Error(`The migration ${name}.sql failed, so no new migration was kept.`, { cause });
        });
        const appliedAt = new Date().toISOString();
        await connection.insertInto('migrations').values({ name, hash, appliedAt }).execute();
      }
      await sql`COMMIT`.execute(connection);
    } catch (error) {
      await sql`ROLLBACK`.execute(connection);
      throw error;
    }
  });
}

function toRefusal(name: string): string {
  return `The migration ${name}.sql was changed after it ran, so the database has other tables than the code expects. Restore its text, and write the change as a new migration: npm run new -- migration <name>. If the database has nothing of value, you can delete it instead.`;
}

/** `npm run dev` starts the server as soon as the file is there. */
function isUnwritten(script: string): boolean {
  return script.replace(/--.*/g, '').trim() === '';
}

/** Git can change the ends of lines. */
function toHash(script: string): string {
  return createHash('sha256').update(script.replaceAll('\r\n', '\n')).digest('hex');
}
