import pg from 'pg';
import { Second } from '../../../shared/units.ts';
import { type Sql, type SqlDialect, type SqlDriver, type SqlValue, StoreAwayError } from './sql.ts';

/** The writer, the heartbeat, and somebody who reads (a count). */
const MAX_CONNECTIONS = 3;
const CONNECT_TIMEOUT = 5 * Second;
/** A statement that takes longer has met a database that hangs (ms): its connection is given up. */
const QUERY_TIMEOUT = 15 * Second;
/** Attempts of a transaction that two replicas got in each other's way with (a count). */
const MAX_ATTEMPTS = 3;
/** Statements whose placeholders were rewritten (a count). */
const MAX_STATEMENTS = 200;

/** By SQLSTATE's first two letters, what a value can do wrong: 22 data, 23 constraints, 54 limits. */
const REFUSED_CLASSES = new Set(['22', '23', '54']);
/** Deadlock and serialization failure. */
const COLLISIONS = new Set(['40P01', '40001']);
/** Undefined table: somebody emptied the database while it was open. */
const UNDEFINED_TABLE = '42P01';

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

/** Nothing is connected yet: what is wrong with the address shows with the first question. */
export function openPostgres(url: string, { queryTimeout = QUERY_TIMEOUT } = {}): SqlDriver {
  return new PostgresDriver(url, queryTimeout);
}

class PostgresDriver implements SqlDriver {
  readonly dialect = dialect;
  readonly isShared = true;
  readonly #pool: pg.Pool;
  readonly #statements = new Map<string, string>();

  constructor(url: string, queryTimeout: number) {
    this.#pool = new pg.Pool({
      connectionString: url,
      max: MAX_CONNECTIONS,
      connectionTimeoutMillis: CONNECT_TIMEOUT,
      query_timeout: queryTimeout,
      keepAlive: true,
      application_name: 'spillway desk',
      types: { getTypeParser: toParser },
    });
    // A connection that breaks while nobody uses it: the next question tells.
    this.#pool.on('error', () => undefined);
  }

  all<Row>(sql: string, values: readonly SqlValue[] = []): Promise<Row[]> {
    return this.#withClient((client) => this.#toSql(client).all<Row>(sql, values));
  }

  run(sql: string, values: readonly SqlValue[] = []): Promise<number> {
    return this.#withClient((client) => this.#toSql(client).run(sql, values));
  }

  snapshot<T>(read: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#withClient((client) =>
      this.#inTransaction(client, read, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'),
    );
  }

  async transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#withClient((client) => this.#inTransaction(client, work));
      } catch (error) {
        if (!(error instanceof CollisionError)) throw error;
        if (attempt === MAX_ATTEMPTS) throw new StoreAwayError(error.message);
      }
    }
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
    await this.all('SELECT 1 AS one');
  }

  async close(): Promise<void> {
    if (!this.#pool.ending) await this.#pool.end();
  }

  async #inTransaction<T>(client: pg.PoolClient, work: (sql: Sql) => Promise<T>, begin = 'BEGIN'): Promise<T> {
    const sql = this.#toSql(client);
    await sql.run(begin);
    try {
      const result = await work(sql);
      await sql.run('COMMIT');
      return result;
    } catch (error) {
      if (!(error instanceof StoreAwayError)) await sql.run('ROLLBACK');
      throw error;
    }
  }

  async #connect(): Promise<pg.PoolClient> {
    try {
      // An address that is none shows here too.
      return await this.#pool.connect();
    } catch (error) {
      throw toStoreError(error);
    }
  }

  async #withClient<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#connect();
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
  }

  #toSql(client: pg.PoolClient): Sql {
    const query = async (sql: string, values: readonly SqlValue[]) => {
      try {
        return await client.query({ text: this.#toNumbered(sql), values: [...values] });
      } catch (error) {
        throw toStoreError(error);
      }
    };
    return {
      // The columns of our own schema.
      all: async <Row>(sql: string, values: readonly SqlValue[] = []) => (await query(sql, values)).rows as Row[],
      run: async (sql, values = []) => (await query(sql, values)).rowCount ?? 0,
    };
  }

  /** `?` to `$1`. No text of ours holds a question mark otherwise. */
  #toNumbered(sql: string): string {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    let count = 0;
    const numbered = sql.replace(/\?/g, () => {
      count += 1;
      return `$${count}`;
    });
    if (this.#statements.size >= MAX_STATEMENTS) this.#statements.clear();
    this.#statements.set(sql, numbered);
    return numbered;
  }
}

class CollisionError extends Error {}

function toParser(oid: number, format?: 'text' | 'binary'): (text: string) => unknown {
  return NUMBER_TYPES.has(oid) ? Number : pg.types.getTypeParser(oid, format ?? 'text');
}

/** Without the cause: it may hold the connection's address, and with it the password. */
function toStoreError(error: unknown): Error {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const reason = error instanceof Error ? error.message : String(error);
  if (COLLISIONS.has(code)) return new CollisionError(reason);
  if (REFUSED_CLASSES.has(code.slice(0, 2)) && /^\w{5}$/.test(code)) return new Error(`${reason} (${code})`);
  return new StoreAwayError(`PostgreSQL cannot be used: ${reason || code || 'it does not answer'}.`, {
    isGone: code === UNDEFINED_TABLE,
  });
}
