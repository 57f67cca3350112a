import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { NodeSqliteDialect } from '@better-auth/kysely-adapter/node-sqlite-dialect';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { HttpError, report } from '#engine/server';
import type { Database, Tables } from './tables.ts';

export interface DatabaseOptions {
  readonly databaseUrl: string | undefined;
  /** `:memory:` for tests. */
  readonly databaseFile: string;
}

export interface OpenDatabase {
  readonly db: Database;
  readonly type: 'sqlite' | 'postgres';
  /** From now on, connections have a time limit. Migrations can take longer. */
  limitQueries(): void;
}

/** Opens PostgreSQL if there is a URL, else the SQLite file. */
export function openDatabase({ databaseUrl, databaseFile }: DatabaseOptions): OpenDatabase {
  if (databaseUrl !== undefined) return openPostgres(databaseUrl);
  if (databaseFile !== ':memory:') mkdirSync(dirname(databaseFile), { recursive: true });
  const database = new DatabaseSync(databaseFile, { timeout: 5000 });
  // SQLite makes it readable for everyone. Its other files get the same mode.
  if (databaseFile !== ':memory:') chmodSync(databaseFile, 0o600);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
  const db = new Kysely<Tables>({ dialect: new NodeSqliteDialect({ database }) });
  return { db, type: 'sqlite', limitQueries: () => undefined };
}

/** How long a request waits for a connection, and how long a query can take (ms). */
const CONNECT_TIME = 3000;
const QUERY_TIME = 5000;
/** How long a connection can be in use, and how long it can wait within a transaction (ms). */
const USE_TIME = 2 * QUERY_TIME;

function openPostgres(connectionString: string): OpenDatabase {
  const pool = new pg.Pool({ connectionString, connectionTimeoutMillis: CONNECT_TIME, keepAlive: true });
  const timers = new Map<pg.PoolClient, NodeJS.Timeout>();
  let isLimited = false;
  // A broken connection fails its query, and the next query opens another one.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
    // PostgreSQL cancels a query that is too slow. It would run on if only the connection were closed. The locks of a
    // transaction whose connection broke hold up others until PostgreSQL ends it.
    const limits = `SET statement_timeout = ${QUERY_TIME}; SET idle_in_transaction_session_timeout = ${USE_TIME}`;
    client.query(limits).catch(() => undefined);
  });
  // If the network breaks, a connection may never answer again. It is closed then.
  pool.on('acquire', (client) => {
    if (isLimited)
      timers.set(
        client,
        setTimeout(() => client.end(), USE_TIME),
      );
  });
  pool.on('release', (_error, client) => {
    clearTimeout(timers.get(client));
    timers.delete(client);
  });
  const dialect = new PostgresDialect({
    pool: {
      options: pool.options,
      connect: () => pool.connect().catch(throwBusy),
      end: () => pool.end(),
    },
  });
  const db = new Kysely<Tables>({
    dialect,
    // Kysely logs an error before it throws it.
    log(event) {
      if (event.level === 'error') explain(event.error);
    },
  });
  return {
    db,
    type: 'postgres',
    limitQueries() {
      isLimited = true;
    },
  };
}

/** While all connections are in use, visitors get 503, and operators a warning. */
function throwBusy(error: Error): never {
  if (error.message !== 'timeout exceeded when trying to connect') throw error;
  report(new Error(`All connections to the database were in use for ${CONNECT_TIME / 1000} s.`), { level: 'warning' });
  throw new HttpError(503);
}

/** Says which limit a query reached, and removes the frames that pg and Kysely both add. */
function explain(error: unknown): void {
  if (!(error instanceof pg.DatabaseError)) return;
  if (error.code === '57014') {
    error.message = `The database took longer than ${QUERY_TIME / 1000} s and canceled the query (${error.message}). Make it faster, or raise QUERY_TIME in src/server/product/database/open-database.ts.`;
  }
  const frames = error.stack?.split('\n').filter((line) => line.startsWith('    at ')) ?? [];
  error.stack = [`${error.name}: ${error.message}`, ...new Set(frames)].join('\n');
}
