import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { CamelCasePlugin, Kysely, PostgresDialect, SqliteDialect, sql } from 'kysely';
import pg from 'pg';
import { migrate } from './migrate.ts';
import { migrations } from './migrations/index.ts';
import { toKyselySqlite } from './sqlite.ts';
import type { Database, Tables } from './tables.ts';

interface DatabaseOptions {
  readonly databaseUrl: string | undefined;
  /** `:memory:` for tests. */
  readonly databaseFile: string;
}

type Scripts = Readonly<Record<string, string>>;

/** Opens PostgreSQL if there is a URL, else the SQLite file, and runs the migrations that it does not have yet. */
export function openDatabase(options: DatabaseOptions, scripts: Scripts = migrations): Promise<Database> {
  return options.databaseUrl === undefined
    ? openSqlite(options.databaseFile, scripts)
    : openPostgres(options.databaseUrl, scripts);
}

async function openSqlite(file: string, scripts: Scripts): Promise<Database> {
  if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true });
  const sqlite = new DatabaseSync(file, { timeout: 5000 });
  sqlite.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
  const db = new Kysely<Tables>({
    dialect: new SqliteDialect({ database: toKyselySqlite(sqlite) }),
    plugins: [new CamelCasePlugin()],
  });
  await migrate(db, scripts, {
    lock: 'BEGIN IMMEDIATE',
    run: async (script) => sqlite.exec(script),
  });
  return db;
}

async function openPostgres(url: string, scripts: Scripts): Promise<Database> {
  const pool = new pg.Pool({ connectionString: url, types: { getTypeParser: toParser } });
  // When an idle connection breaks, the next query opens another one.
  pool.on('error', () => undefined);
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }), plugins: [new CamelCasePlugin()] });
  await migrate(db, scripts, {
    lock: "BEGIN; SELECT pg_advisory_xact_lock(hashtext('migrations'))",
    run: (script, connection) => sql.raw(script).execute(connection),
  });
  return db;
}

const { INT8, NUMERIC, DATE, TIMESTAMPTZ } = pg.types.builtins;

/** Reads values as SQLite has them, so that the same queries have the same results. */
function toParser(type: number, format?: 'text' | 'binary'): (text: string) => unknown {
  if (type === INT8 || type === NUMERIC) return Number;
  if (type === DATE) return (text) => text;
  if (type === TIMESTAMPTZ) return (text) => new Date(text).toISOString();
  return pg.types.getTypeParser(type, format ?? 'text');
}
