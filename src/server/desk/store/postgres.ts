import pg from 'pg';
import { Minute, Second } from '../../../shared/units.ts';
import type { DeskLog } from '../desk-log.ts';
import { createSlots, type Slots } from './slots.ts';
import { QueryFailedError, type Sql, type SqlDialect, type SqlDriver, type SqlValue, StoreAwayError } from './sql.ts';

/** Connections for one purpose, and their limits (ms). */
interface LaneLimits {
  /** Connections (a count). */
  readonly connections: number;
  /** PostgreSQL ends a statement that takes longer, or that waits longer for a lock. The connection survives. */
  readonly statement: number;
  readonly lock: number;
  /** The last resort, longer than both: a database that has not answered by then hangs, and its connection is closed. */
  readonly hang: number;
  /** How long a query waits for one of the connections. */
  readonly slot: number;
}

/** Five connections in all. Slow reads must not starve the writer, and neither of them the heartbeat and sign-in. */
const LANES = {
  writer: { connections: 2, statement: 12 * Second, lock: 3 * Second, hang: 15 * Second, slot: 10 * Second },
  reader: { connections: 2, statement: 5 * Second, lock: 1 * Second, hang: 8 * Second, slot: 3 * Second },
  quick: { connections: 1, statement: 2 * Second, lock: 1 * Second, hang: 5 * Second, slot: 3 * Second },
} as const satisfies Record<string, LaneLimits>;

const CONNECT_TIMEOUT = 5 * Second;
/** A connection that is not used is closed after this long (ms): opening one costs more than most queries. */
const IDLE_TIMEOUT = 5 * Minute;
/** The longest that a timer of Node can be set to (ms). */
const FOREVER = 2 ** 31 - 1;
/** Attempts of a transaction that two replicas got in each other's way with (a count). */
const MAX_ATTEMPTS = 3;
/** Statements whose placeholders were rewritten (a count). */
const MAX_STATEMENTS = 200;

/** `int8` and `numeric`: counts and times, all below 2^53. */
const NUMBER_TYPES = new Set<number>([20, 1700]);

const dialect: SqlDialect = {
  name: 'postgres',
  blob: 'BYTEA',
  keyed: '',
  serial: 'BIGSERIAL',
  forUpdate: 'FOR UPDATE',
  now: '(extract(epoch from statement_timestamp()) * 1000)::bigint',
};

export interface PostgresOptions {
  /** The longest that a query may take (ms), if that is less than the limit of its lane. */
  readonly queryTimeout?: number;
  readonly log?: DeskLog;
}

/** Nothing is connected yet: what is wrong with the address shows with the first question. */
export function openPostgres(url: string, options: PostgresOptions = {}): SqlDriver {
  return new PostgresDriver(url, options);
}

class PostgresDriver implements SqlDriver {
  readonly dialect = dialect;
  readonly isShared = true;
  readonly #lanes: Readonly<Record<keyof typeof LANES, Lane>>;

  constructor(url: string, { queryTimeout, log }: PostgresOptions) {
    const statements = new NumberedStatements();
    const server = new ServerLimits(log);
    const open = (limits: LaneLimits) => new Lane(url, limitTo(limits, queryTimeout), server, statements);
    this.#lanes = { writer: open(LANES.writer), reader: open(LANES.reader), quick: open(LANES.quick) };
  }

  get reader(): Sql {
    return this.#lanes.reader;
  }

  get quick(): Sql {
    return this.#lanes.quick;
  }

  all<Row>(sql: string, values?: readonly SqlValue[]): Promise<Row[]> {
    return this.#lanes.writer.all(sql, values);
  }

  run(sql: string, values?: readonly SqlValue[]): Promise<number> {
    return this.#lanes.writer.run(sql, values);
  }

  snapshot<T>(read: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#lanes.writer.use((client) =>
      client.inTransaction(read, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'),
    );
  }

  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return retryCollisions(() => this.#lanes.writer.use((client) => client.inTransaction(work)));
  }

  migration<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return retryCollisions(() =>
      this.#lanes.writer.use((client) => {
        const patient = client.withoutLimit();
        return patient.inTransaction(async (sql) => {
          await sql.run('SET LOCAL statement_timeout = 0');
          await sql.run('SET LOCAL lock_timeout = 0');
          return work(sql);
        });
      }),
    );
  }

  async usedBytes(): Promise<number> {
    const [row] = await this.all<{ bytes: number }>(
      `SELECT COALESCE(SUM(pg_total_relation_size(oid)), 0) AS bytes FROM pg_class
        WHERE relkind = 'r' AND relname LIKE 'desk_%' AND pg_table_is_visible(oid)`,
    );
    return row?.bytes ?? 0;
  }

  /** PostgreSQL vacuums by itself. */
  async reclaim(): Promise<void> {}

  async overwriteDeleted(): Promise<void> {}

  async check(): Promise<void> {
    await this.quick.all('SELECT 1 AS one');
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.#lanes).map((lane) => lane.close()));
  }
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
class Lane implements Sql {
  readonly #url: string;
  readonly #limits: LaneLimits;
  readonly #server: ServerLimits;
  readonly #statements: NumberedStatements;
  readonly #slots: Slots;
  #pool: pg.Pool | undefined;
  #hasServerLimits = true;
  #isClosed = false;

  constructor(url: string, limits: LaneLimits, server: ServerLimits, statements: NumberedStatements) {
    this.#url = url;
    this.#limits = limits;
    this.#server = server;
    this.#statements = statements;
    // More than the pool has would wait within it, and look like a database that does not answer.
    this.#slots = createSlots(
      limits.connections,
      limits.slot,
      () => new QueryFailedError('busy', 'All connections to PostgreSQL were in use for too long.'),
    );
  }

  all<Row>(sql: string, values: readonly SqlValue[] = []): Promise<Row[]> {
    return this.use((client) => client.all<Row>(sql, values));
  }

  run(sql: string, values: readonly SqlValue[] = []): Promise<number> {
    return this.use((client) => client.run(sql, values));
  }

  use<T>(work: (client: Client) => Promise<T>): Promise<T> {
    return this.#slots.use(() => this.#useClient(work));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#endPool();
  }

  async #useClient<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    let isBroken = false;
    const onError = () => {
      isBroken = true;
    };
    client.on('error', onError);
    try {
      return await work(new Client(client, this.#statements));
    } catch (error) {
      isBroken ||= error instanceof StoreAwayError;
      throw error;
    } finally {
      client.off('error', onError);
      client.release(isBroken);
    }
  }

  async #connect(): Promise<pg.PoolClient> {
    if (this.#isClosed) throw new StoreAwayError('The connections to PostgreSQL were closed.');
    if (this.#hasServerLimits !== this.#server.areTaken) await this.#endPool();
    this.#pool ??= this.#openPool();
    const hadLimits = this.#hasServerLimits;
    try {
      // An address that is not valid shows here too.
      return await this.#pool.connect();
    } catch (error) {
      if (hadLimits && this.#server.noteRefusal(error)) return this.#connect();
      throw toConnectError(error);
    }
  }

  #openPool(): pg.Pool {
    const { connections, statement, lock, hang } = this.#limits;
    this.#hasServerLimits = this.#server.areTaken;
    const pool = new pg.Pool({
      connectionString: this.#url,
      max: connections,
      connectionTimeoutMillis: CONNECT_TIMEOUT,
      idleTimeoutMillis: IDLE_TIMEOUT,
      query_timeout: hang,
      ...(this.#hasServerLimits && { statement_timeout: statement, lock_timeout: lock }),
      keepAlive: true,
      application_name: 'spillway desk',
      types: { getTypeParser: toParser },
    });
    // An idle connection that breaks: the next query opens another one.
    pool.on('error', () => undefined);
    return pool;
  }

  async #endPool(): Promise<void> {
    const pool = this.#pool;
    this.#pool = undefined;
    if (pool && !pool.ending) await pool.end();
  }
}

/** Whether new connections may set limits. Some poolers, such as PgBouncer, refuse a connection that does. */
class ServerLimits {
  areTaken = true;
  readonly #log: DeskLog | undefined;

  constructor(log: DeskLog | undefined) {
    this.#log = log;
  }

  /** @returns whether this error was about the limits: then the connection is tried again without them */
  noteRefusal(error: unknown): boolean {
    const isAbout = error instanceof Error && /startup parameter/i.test(error.message);
    if (isAbout && this.areTaken) {
      this.#log?.warn(
        {},
        'The pooler in front of PostgreSQL refuses statement_timeout and lock_timeout, so the desk works without them: a slow query holds its connection for up to 15 s. Let the pooler pass them on (PgBouncer: ignore_startup_parameters), or connect to PostgreSQL directly.',
      );
      this.areTaken = false;
    }
    return isAbout;
  }
}

/** One connection, for as long as a query or a transaction takes. */
class Client implements Sql {
  readonly #client: pg.PoolClient;
  readonly #statements: NumberedStatements;
  readonly #hang: number | undefined;

  /** @param hang another limit than the pool's (ms) */
  constructor(client: pg.PoolClient, statements: NumberedStatements, hang?: number) {
    this.#client = client;
    this.#statements = statements;
    this.#hang = hang;
  }

  withoutLimit(): Client {
    return new Client(this.#client, this.#statements, FOREVER);
  }

  async all<Row>(sql: string, values: readonly SqlValue[] = []): Promise<Row[]> {
    return (await this.#query(sql, values)).rows as Row[]; // the columns of our own schema
  }

  async run(sql: string, values: readonly SqlValue[] = []): Promise<number> {
    return (await this.#query(sql, values)).rowCount ?? 0;
  }

  async inTransaction<T>(work: (sql: Sql) => Promise<T>, begin = 'BEGIN'): Promise<T> {
    await this.run(begin);
    try {
      const result = await work(this);
      await this.run('COMMIT');
      return result;
    } catch (error) {
      if (!(error instanceof StoreAwayError)) await this.run('ROLLBACK');
      throw error;
    }
  }

  async #query(sql: string, values: readonly SqlValue[]): Promise<pg.QueryResult> {
    const query = {
      text: this.#statements.toNumbered(sql),
      values: [...values],
      ...(this.#hang !== undefined && { query_timeout: this.#hang }),
    };
    try {
      return await this.#client.query(query);
    } catch (error) {
      throw toQueryError(error);
    }
  }
}

/** `?` to `$1`. No text of ours holds a question mark otherwise. */
class NumberedStatements {
  readonly #known = new Map<string, string>();

  toNumbered(sql: string): string {
    const known = this.#known.get(sql);
    if (known !== undefined) return known;
    let count = 0;
    const numbered = sql.replace(/\?/g, () => {
      count += 1;
      return `$${count}`;
    });
    if (this.#known.size >= MAX_STATEMENTS) this.#known.clear();
    this.#known.set(sql, numbered);
    return numbered;
  }
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

/** Two transactions got in each other's way. */
class CollisionError extends QueryFailedError {}

function toParser(oid: number, format?: 'text' | 'binary'): (text: string) => unknown {
  return NUMBER_TYPES.has(oid) ? Number : pg.types.getTypeParser(oid, format ?? 'text');
}

/** Class 53: too many connections, no memory, a full disk. */
const SHORTAGE = /^53/;
/** Class 08 is about the connection; the others end it: a shutdown, a start that has not ended. */
const DISCONNECTED = /^(?:08|57P)/;
/** Errors about values: 22 data, 23 constraints, 54 limits. */
const REFUSED_VALUE = /^(?:22|23|54)/;
/** Deadlock and serialization failure. */
const COLLISION = /^(?:40P01|40001)$/;
/** Canceled, for example by `statement_timeout`; a lock that was not free within `lock_timeout`. */
const SLOW = /^(?:57014|55P03)$/;
const UNDEFINED_TABLE = '42P01';

/** Without the cause: it may hold the connection's address, and with it the password. */
function toConnectError(error: unknown): Error {
  const { code, reason } = readPostgresError(error);
  if (SHORTAGE.test(code)) return new QueryFailedError('busy', `${reason} (${code})`);
  return new StoreAwayError(`PostgreSQL cannot be used: ${reason || code || 'it does not answer'}.`);
}

/** Errors of PostgreSQL have a code of five characters. Those without one are of the network. */
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
