import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { NodeSqliteDialect } from '@better-auth/kysely-adapter/node-sqlite-dialect';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { Database, Tables } from './tables.ts';

export interface DatabaseOptions {
  readonly databaseUrl: string | undefined;
  /** `:memory:` for tests. */
  readonly databaseFile: string;
}

export interface OpenDatabase {
  readonly db: Database;
  readonly type: 'sqlite' | 'postgres';
  /** From now on, each query has a time limit. Migrations can take longer. */
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

/** How long a request waits for a connection, and how long it can use one (ms). */
const CONNECT_TIME = 3000;
const USE_TIME = 5000;

function openPostgres(connectionString: string): OpenDatabase {
  const pool = new pg.Pool({ connectionString, connectionTimeoutMillis: CONNECT_TIME, keepAlive: true });
  const timers = new Map<pg.PoolClient, NodeJS.Timeout>();
  let isLimited = false;
  // A broken connection fails its query, and the next query opens another one.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
    // The locks of a transaction whose connection broke hold up others until PostgreSQL ends it.
    client.query(`SET idle_in_transaction_session_timeout = ${2 * USE_TIME}`).catch(() => undefined);
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
  return {
    db: new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }),
    type: 'postgres',
    limitQueries() {
      isLimited = true;
    },
  };
}
