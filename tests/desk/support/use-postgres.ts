import pg from 'pg';
import { openPostgres } from '../../../src/desk/server/store/postgres.ts';
import { migrate, SCHEMA_VERSION } from '../../../src/desk/server/store/schema.ts';
import { createPostgresDatabase, startPostgres } from '../../support/postgres.ts';

let desk: { readonly url: string; readonly meta: unknown } | undefined;

/** Returns a database that tests use sequentially, with the desk's tables and no rows. */
export async function useEmptyDesk(): Promise<string> {
  if (desk && (await empty(desk))) return desk.url;
  const url = await createPostgresDatabase();
  const driver = openPostgres(url);
  await migrate(driver);
  desk = { url, meta: await driver.all('SELECT * FROM desk_meta') };
  await driver.close();
  return url;
}

/** Empties the desk's tables. @returns false if a test left another schema */
async function empty({ url, meta }: NonNullable<typeof desk>): Promise<boolean> {
  await startPostgres();
  const client = new pg.Client(url);
  await client.connect();
  try {
    // Queries of a killed process would continue otherwise.
    await client.query(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`);
    const schema = await client.query("SELECT value FROM desk_meta WHERE name = 'schema'");
    if (Number(schema.rows[0]?.value) !== SCHEMA_VERSION) return false;
    // TRUNCATE also empties the files, which matters to tests of database sizes.
    const used = await client.query(`SELECT string_agg(relname, ', ') AS tables FROM pg_class
      WHERE relkind = 'r' AND relname LIKE 'desk\\_%' AND relname <> 'desk_meta' AND pg_relation_size(oid) > 0`);
    if (used.rows[0].tables) await client.query(`TRUNCATE ${used.rows[0].tables} RESTART IDENTITY`);
    await client.query('DELETE FROM desk_meta');
    await client.query('INSERT INTO desk_meta SELECT * FROM json_populate_recordset(NULL::desk_meta, $1)', [
      JSON.stringify(meta),
    ]);
    return true;
  } finally {
    await client.end();
  }
}
