import pg from 'pg';
import { Minute, Second } from '../../../shared/units.ts';
import type { DeskLog } from '../desk-log.ts';
import { createSlots } from './slots.ts';
import {
  QueryFailedError,
  readNumber,
  type Sql,
  type SqlDialect,
  type SqlDriver,
  type SqlValue,
  StoreAwayError,
} from './sql.ts';

/** Connections for one purpose, and their limits (ms). */
interface LaneLimits {
  /** The number of connections. */
  readonly connections: number;
  /** PostgreSQL cancels a statement that takes longer, or waits longer for a lock. The connection stays open. */
  readonly statement: number;
  readonly lock: number;
  /** The last resort, longer than both: the connection is closed if the database has not answered by then. */
  readonly hang: number;
  /** How long a query waits for a free connection. */
  readonly slot: number;
}

/** Five connections in total. Slow reads must not delay the writer, and neither may delay heartbeat and sign-in. */
const LANES = {
  writer: { connections: 2, statement: 12 * Second, lock: 3 * Second, hang: 15 * Second, slot: 10 * Second },
  reader: { connections: 2, statement: 5 * Second, lock: 1 * Second, hang: 8 * Second, slot: 3 * Second },
  quick: { connections: 1, statement: 2 * Second, lock: 1 * Second, hang: 5 * Second, slot: 3 * Second },
} as const satisfies Record<string, LaneLimits>;

/** Tables that can grow, and the approximate overhead of a row with its index entries (bytes). */
const SIZED_TABLES = [
  ...['desk_incidents', 'desk_hours', 'desk_releases', 'desk_occurrences', 'desk_aliases', 'desk_search'],
  ...['desk_changes', 'desk_notes', 'desk_notifications', 'desk_processes'],
];
const ROW_BYTES = 150;

const CONNECT_TIMEOUT = 5 * Second;
/** Idle connections are closed after this long (ms), because opening one costs more than most queries. */
const IDLE_TIMEOUT = 5 * Minute;
/** The longest timeout that Node supports (ms). */
const FOREVER = 2 ** 31 - 1;
/** The most attempts of a transaction that collides with one of another replica. */
const MAX_ATTEMPTS = 3;

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
  /** The longest time for a query (ms), if it is shorter than the limit of its lane. */
  readonly queryTimeout?: number;
  readonly log?: DeskLog;
}

/** Returns a driver that connects with its first query, which is when an invalid address fails. */
export function openPostgres(url: string, { queryTimeout, log }: PostgresOptions = {}): SqlDriver {
  const server = createServerLimits(log);
  const open = (limits: LaneLimits) => createLane({ url, limits: limitTo(limits, queryTimeout), server });
  const writer = open(LANES.writer);
  const reader = open(LANES.reader);
  const quick = open(LANES.quick);
  return {
    ...writer,
    isShared: true,
    reader,
    quick,
    transaction: (work) => retryCollisions(() => writer.use((client) => inTransaction(toSql(client), work))),
    migration: (work) =>
      retryCollisions(() =>
        writer.use((client) =>
          inTransaction(toSql(client, FOREVER), async (sql) => {
            await sql.run('SET LOCAL statement_timeout = 0');
            await sql.run('SET LOCAL lock_timeout = 0');
            return work(sql);
          }),
        ),
      ),
    // Adds up the sizes of rows, because PostgreSQL's files keep the space of deleted rows for some time.
    usedBytes: () =>
      readNumber(
        writer,
        `SELECT ${SIZED_TABLES.map((table) => `COALESCE((SELECT SUM(pg_column_size(t.*) + ${ROW_BYTES}) FROM ${table} t), 0)`).join(' + ')} AS value`,
      ),
    /** Does nothing, because PostgreSQL vacuums by itself. */
    async reclaim() {},
    async overwriteDeleted() {},
    async check() {
      await quick.all('SELECT 1 AS one');
    },
    async close() {
      await Promise.all([writer, reader, quick].map((lane) => lane.end()));
    },
  };
}

function limitTo(limits: LaneLimits, queryTimeout = Number.POSITIVE_INFINITY): LaneLimits {
  return {
    ...limits,
    statement: Math.ceil(Math.min(limits.statement, queryTimeout * 0.8)),
    lock: Math.ceil(Math.min(limits.lock, queryTimeout * 0.5)),
    hang: Math.min(limits.hang, queryTimeout),
    slot: Math.min(limits.slot, queryTimeout * 0.6),
  };
}

/** The connections for one purpose, opened when they are needed and closed when they are idle. */
function createLane({ url, limits, server }: { url: string; limits: LaneLimits; server: ServerLimits }) {
  // Without slots, queries would wait inside the pool, which looks like a database that does not answer.
  const slots = createSlots({
    count: limits.connections,
    limit: {
      patience: limits.slot,
      toError: () => new QueryFailedError('busy', 'All connections to PostgreSQL were in use for too long.'),
    },
  });
  let pool: pg.Pool | undefined;
  let hasServerLimits = true;
  let isClosed = false;

  function openPool(): pg.Pool {
    hasServerLimits = server.areTaken;
    const opened = new pg.Pool({
      connectionString: url,
      max: limits.connections,
      connectionTimeoutMillis: CONNECT_TIMEOUT,
      idleTimeoutMillis: IDLE_TIMEOUT,
      query_timeout: limits.hang,
      ...(hasServerLimits && { statement_timeout: limits.statement, lock_timeout: limits.lock }),
      keepAlive: true,
      application_name: 'spillway desk',
      types: { getTypeParser: toParser },
    });
    // When an idle connection breaks, the next query opens another one.
    opened.on('error', () => undefined);
    return opened;
  }

  async function endPool(): Promise<void> {
    const ended = pool;
    pool = undefined;
    if (ended && !ended.ending) await ended.end();
  }

  async function connect(): Promise<pg.PoolClient> {
    if (isClosed) throw new StoreAwayError('The connections to PostgreSQL were closed.');
    if (hasServerLimits !== server.areTaken) await endPool();
    pool ??= openPool();
    const hadLimits = hasServerLimits;
    try {
      // Fails here for an invalid address too.
      return await pool.connect();
    } catch (error) {
      if (hadLimits && server.noteRefusal(error)) return connect();
      throw toConnectError(error);
    }
  }

  function use<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    return slots.use(async () => {
      const client = await connect();
      let isBroken = false;
      const onError = () => {
        isBroken = true;
      };
      client.on('error', onError);
      try {
        return await work(client);
      } catch (error) {
        isBroken ||= error instanceof StoreAwayError;
        throw error;
      } finally {
        client.off('error', onError);
        client.release(isBroken);
      }
    });
  }

  const sql: Sql = {
    dialect,
    all: (text, values) => use((client) => toSql(client).all(text, values)),
    run: (text, values) => use((client) => toSql(client).run(text, values)),
  };

  return {
    ...sql,
    use,
    async end() {
      isClosed = true;
      await endPool();
    },
  };
}

type ServerLimits = ReturnType<typeof createServerLimits>;

/** Tracks whether new connections can set limits. Some poolers, such as PgBouncer, refuse a connection that does. */
function createServerLimits(log: DeskLog | undefined) {
  let areTaken = true;
  return {
    get areTaken() {
      return areTaken;
    },
    /** @returns whether the error is about the limits, so that the caller connects again without them */
    noteRefusal(error: unknown): boolean {
      const isAbout = error instanceof Error && /startup parameter/i.test(error.message);
      if (isAbout && areTaken) {
        log?.warn(
          {},
          'The pooler in front of PostgreSQL refuses statement_timeout and lock_timeout, so the desk works without them, and a slow query can block its connection for up to 15 s. Allow both in the pooler (PgBouncer: ignore_startup_parameters), or connect to PostgreSQL directly.',
        );
        areTaken = false;
      }
      return isAbout;
    },
  };
}

/** @param hang overrides the pool's limit (ms) */
function toSql(client: pg.PoolClient, hang?: number): Sql {
  async function query(sql: string, values: readonly SqlValue[] = []): Promise<pg.QueryResult> {
    const limit = hang === undefined ? {} : { query_timeout: hang };
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

async function retryCollisions<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof CollisionError) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** A deadlock or a serialization failure, after which the transaction is tried again. */
class CollisionError extends QueryFailedError {}

function toParser(oid: number, format?: 'text' | 'binary'): (text: string) => unknown {
  return NUMBER_TYPES.has(oid) ? Number : pg.types.getTypeParser(oid, format ?? 'text');
}

/** Class 53: too many connections, no memory, a full disk. */
const SHORTAGE = /^53/;
/** Class 08 is about the connection. The others end it, for example during a shutdown or a start. */
const DISCONNECTED = /^(?:08|57P)/;
/** Errors about values: 22 data, 23 constraints, 54 limits. */
const REFUSED_VALUE = /^(?:22|23|54)/;
/** Deadlock and serialization failure. */
const COLLISION = /^(?:40P01|40001)$/;
/** A statement canceled by `statement_timeout`, or a lock that was not free within `lock_timeout`. */
const SLOW = /^(?:57014|55P03)$/;
const UNDEFINED_TABLE = '42P01';

/** Leaves out the cause, which can contain the connection's URL with the password. */
function toConnectError(error: unknown): Error {
  const { code, reason } = readPostgresError(error);
  if (SHORTAGE.test(code)) return new QueryFailedError('busy', `${reason} (${code})`);
  return new StoreAwayError(`PostgreSQL cannot be used: ${reason || code || 'it does not answer'}.`);
}

/** PostgreSQL's errors have a code of five characters. Errors without one are network errors. */
function toQueryError(error: unknown): Error {
  const { code, reason, isFatal } = readPostgresError(error);
  const words = `${reason} (${code})`;
  if (!/^[0-9A-Z]{5}$/.test(code) || isFatal || DISCONNECTED.test(code)) return toConnectError(error);
  if (SHORTAGE.test(code)) return new QueryFailedError('busy', words);
  if (COLLISION.test(code)) return new CollisionError('slow', words);
  if (SLOW.test(code)) return new QueryFailedError('slow', words);
  if (REFUSED_VALUE.test(code)) return new QueryFailedError('value', words);
  return new QueryFailedError('refused', words, { isTableMissing: code === UNDEFINED_TABLE });
}

function readPostgresError(error: unknown): { code: string; reason: string; isFatal: boolean } {
  if (!(error instanceof Error)) return { code: '', reason: String(error), isFatal: false };
  const code = 'code' in error ? String(error.code) : '';
  const isFatal = 'severity' in error && /^(?:FATAL|PANIC)$/.test(String(error.severity));
  return { code, reason: error.message, isFatal };
}
