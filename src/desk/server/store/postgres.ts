import pg from 'pg';
import { Minute, Second } from '../../../shared/units.ts';
import {
  QueryFailedError,
  readNumber,
  type Sql,
  type SqlDialect,
  type SqlDriver,
  type SqlValue,
  StoreAwayError,
} from './sql.ts';

/** Slow reads must not delay the writer, so each has its own connections, and its longest query (ms). */
const POOLS = {
  writer: { connections: 3, longest: 12 * Second },
  reader: { connections: 2, longest: 5 * Second },
};

/** Tables that can grow, besides occurrences, and the approximate overhead of a row with its index entries (bytes). */
const SIZED_TABLES = [
  'desk_incidents',
  'desk_hours',
  'desk_releases',
  'desk_aliases',
  'desk_changes',
  'desk_notes',
  'desk_notifications',
  'desk_processes',
];
const ROW_BYTES = 150;
/**
 * Sums up occurrences by their records and the approximate size of everything else. A whole row would be read for its
 * size, with its record, which takes seconds for each gigabyte.
 */
const OCCURRENCE_BYTES = 'SELECT SUM(COALESCE(pg_column_size(payload), 0) + 400) FROM desk_occurrences';
const SUMS = [
  OCCURRENCE_BYTES,
  ...SIZED_TABLES.map((table) => `SELECT SUM(pg_column_size(t.*) + ${ROW_BYTES}) FROM ${table} t`),
];

/** How long a query waits for a connection, new or free (ms). */
const CONNECT_TIMEOUT = 4 * Second;
/** Idle connections are closed after this long (ms), because opening one costs more than most queries. */
const IDLE_TIMEOUT = 5 * Minute;
/** The longest timeout that Node supports (ms). */
const FOREVER = 2 ** 31 - 1;

/** `int8` and `numeric`: counts and times, all below 2^53. */
const NUMBER_TYPES = new Set<number>([20, 1700]);

const dialect: SqlDialect = {
  name: 'postgres',
  blob: 'BYTEA',
  keyed: '',
  serial: 'BIGSERIAL',
  forUpdate: 'FOR UPDATE',
  findTable: 'SELECT 1 WHERE to_regclass(?) IS NOT NULL',
  now: '(extract(epoch from statement_timestamp()) * 1000)::bigint',
};

interface PostgresOptions {
  /** The longest time for a query (ms), for tests. */
  readonly queryTimeout?: number;
}

/** Returns a driver that connects with its first query, which is when an invalid address fails. */
export function openPostgres(url: string, { queryTimeout }: PostgresOptions = {}): SqlDriver {
  const writer = openPool(url, POOLS.writer, queryTimeout);
  const reader = openPool(url, POOLS.reader, queryTimeout);
  return {
    ...writer.sql,
    isShared: true,
    reader: reader.sql,
    transaction: (work) => writer.use((client) => inTransaction(toSql(client), work)),
    migration: (work) =>
      writer.use((client) =>
        inTransaction(toSql(client, FOREVER), async (sql) => {
          await sql.run('SET LOCAL statement_timeout = 0');
          return work(sql);
        }),
      ),
    // Adds up the sizes of rows, because PostgreSQL's files keep the space of deleted rows for some time.
    usedBytes: () =>
      readNumber(writer.sql, `SELECT ${SUMS.map((sum) => `COALESCE((${sum}), 0)`).join(' + ')} AS value`),
    /** Does nothing, because PostgreSQL vacuums by itself. */
    async reclaim() {},
    async overwriteDeleted() {},
    /** Does nothing, because a query shows whether the database answers. */
    async check() {},
    async close() {
      await Promise.all([writer.end(), reader.end()]);
    },
  };
}

/** @param longest milliseconds. PostgreSQL cancels a statement that takes longer. The connection stays open */
function openPool(url: string, limits: (typeof POOLS)['writer'], longest = limits.longest) {
  // The last resort, on both sides: the connection is closed if the database has not even canceled the statement, or if
  // the desk is silent within a transaction. It may be lost without a sign, and others wait for its locks.
  const lostAfter = longest * 1.25;
  const pool = new pg.Pool({
    connectionString: url,
    max: limits.connections,
    connectionTimeoutMillis: CONNECT_TIMEOUT,
    idleTimeoutMillis: IDLE_TIMEOUT,
    query_timeout: lostAfter,
    // Statements, because poolers such as PgBouncer refuse a connection with these parameters.
    onConnect: (client) =>
      client.query(
        `SET statement_timeout = ${longest}; SET idle_in_transaction_session_timeout = ${lostAfter}`,
      ) as never, // the pool waits for the promise
    keepAlive: true,
    application_name: 'spillway desk',
    types: { getTypeParser: toParser },
  });
  // When an idle connection breaks, the next query opens another one.
  pool.on('error', () => undefined);

  async function connect(): Promise<pg.PoolClient> {
    try {
      // Fails here for an invalid address too.
      return await pool.connect();
    } catch (error) {
      throw toConnectError(error);
    }
  }

  async function use<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await connect();
    const onError = () => undefined; // The next query fails.
    let isBroken = false;
    client.on('error', onError);
    try {
      return await work(client);
    } catch (error) {
      // After a failover, a connection to the old writer stays read-only.
      isBroken =
        error instanceof StoreAwayError || (error instanceof QueryFailedError && READ_ONLY.test(error.message));
      throw error;
    } finally {
      client.off('error', onError);
      client.release(isBroken);
    }
  }

  const sql: Sql = {
    dialect,
    all: (text, values) => use((client) => toSql(client).all(text, values)),
    run: (text, values) => use((client) => toSql(client).run(text, values)),
  };
  return { sql, use, end: async () => void (pool.ending || (await pool.end())) };
}

/** @param longest overrides the pool's `query_timeout` (ms) */
function toSql(client: pg.PoolClient, longest?: number): Sql {
  async function query(sql: string, values: readonly SqlValue[] = []): Promise<pg.QueryResult> {
    const limit = longest === undefined ? {} : { query_timeout: longest };
    try {
      return await client.query({ text: toNumbered(sql), values: [...values], ...limit });
    } catch (error) {
      throw toQueryError(error);
    }
  }

  return {
    dialect,
    all: async <Row>(sql: string, values?: readonly SqlValue[]) => (await query(sql, values)).rows as Row[], // the columns of our own schema
    run: async (sql, values) => (await query(sql, values)).rowCount ?? 0,
  };
}

async function inTransaction<T>(sql: Sql, work: (sql: Sql) => Promise<T>): Promise<T> {
  await sql.run('BEGIN');
  try {
    const result = await work(sql);
    await sql.run('COMMIT');
    return result;
  } catch (error) {
    if (!(error instanceof StoreAwayError)) await sql.run('ROLLBACK');
    throw error;
  }
}

/** Replaces each `?` by `$1`, `$2` and so on. The store's statements use question marks only for values. */
function toNumbered(sql: string): string {
  let count = 0;
  return sql.replace(/\?/g, () => {
    count += 1;
    return `$${count}`;
  });
}

function toParser(oid: number, format?: 'text' | 'binary'): (text: string) => unknown {
  return NUMBER_TYPES.has(oid) ? Number : pg.types.getTypeParser(oid, format ?? 'text');
}

/** Class 53: too many connections, no memory, a full disk. */
const SHORTAGE = /^53/;
/** pg's error if all connections of the pool stayed in use. */
const ALL_IN_USE = /^timeout exceeded/;
/** Class 08 is about the connection. The others end it, for example during a shutdown or a start. */
const DISCONNECTED = /^(?:08|57P)/;
/** Errors about values: 22 data, 23 constraints, 54 limits. */
const REFUSED_VALUE = /^(?:22|23|54)/;
/** A statement canceled by `statement_timeout`, a deadlock or a serialization failure. */
const SLOW = /^(?:57014|40P01|40001)$/;

/** The server takes no writes. */
const READ_ONLY = /\(25006\)/;

const NONE_FREE = `No connection was free for ${CONNECT_TIMEOUT / Second} s. Each process needs ${POOLS.writer.connections + POOLS.reader.connections}: does the database, or its pooler, allow that many?`;

/** Leaves out the cause, which can contain the connection's URL with the password. */
function toConnectError(error: unknown): Error {
  const { code, reason } = readPostgresError(error);
  if (ALL_IN_USE.test(reason)) return new QueryFailedError('busy', NONE_FREE);
  if (SHORTAGE.test(code)) return new QueryFailedError('busy', `${reason} (${code})`);
  return new StoreAwayError(`PostgreSQL cannot be used: ${reason || code || 'it does not answer'}.`);
}

/** PostgreSQL's errors have a code of five characters. Errors without one are network errors. */
function toQueryError(error: unknown): Error {
  const { code, reason, isFatal } = readPostgresError(error);
  const words = `${reason} (${code})`;
  if (!/^[0-9A-Z]{5}$/.test(code) || isFatal || DISCONNECTED.test(code)) return toConnectError(error);
  if (SHORTAGE.test(code)) return new QueryFailedError('busy', words);
  if (SLOW.test(code)) return new QueryFailedError('slow', words);
  return new QueryFailedError(REFUSED_VALUE.test(code) ? 'value' : 'refused', words);
}

function readPostgresError(error: unknown): { code: string; reason: string; isFatal: boolean } {
  if (!(error instanceof Error)) return { code: '', reason: String(error), isFatal: false };
  const code = 'code' in error ? String(error.code) : '';
  const isFatal = 'severity' in error && /^(?:FATAL|PANIC)$/.test(String(error.severity));
  return { code, reason: error.message, isFatal };
}
