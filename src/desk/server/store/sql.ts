export type SqlValue = string | number | null | Uint8Array;

/** Runs statements that both SQLite and PostgreSQL support, with `?` for values. */
export interface Sql {
  readonly dialect: SqlDialect;
  /** `Row` must match the columns of the query. */
  all<Row>(sql: string, values?: readonly SqlValue[]): Promise<Row[]>;
  /** @returns the number of changed rows */
  run(sql: string, values?: readonly SqlValue[]): Promise<number>;
}

/** One open database. Its own `all` and `run` are for writes, and for the reads that writes need. */
export interface SqlDriver extends Sql {
  /** For the queries of the desk's pages. Even slow ones do not delay the writer. */
  readonly reader: Sql;
  /** Whether several processes can write to it. */
  readonly isShared: boolean;
  /** Runs statements in a transaction. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** Runs a transaction whose statements have no time limit. Changing the schema of a large store can take minutes. */
  migration<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** Returns the size of what is stored, without the files of builds, which have their own limit (bytes). */
  usedBytes(): Promise<number>;
  /** Returns some of the space of deleted rows to the disk. */
  reclaim(): Promise<void>;
  /**
   * Overwrites deleted bytes on the disk. While another program reads the file, SQLite cannot, and the next retention run
   * does it. PostgreSQL does nothing here: it overwrites them when it uses the space again.
   */
  overwriteDeleted(): Promise<void>;
  /** Checks that it is still the same database. @throws StoreAwayError if it was deleted or replaced */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** The differences between SQLite and PostgreSQL. */
export interface SqlDialect {
  readonly name: 'sqlite' | 'postgres';
  /** The column type for bytes. */
  readonly blob: string;
  /** The option of a table whose key is most of its row. */
  readonly keyed: string;
  /** The type of an auto-increment column, before `PRIMARY KEY`. */
  readonly serial: string;
  /** Ends a `SELECT` that locks its rows until the transaction ends. */
  readonly forUpdate: string;
  /** Finds a table or an index by its name. */
  readonly findTable: string;
  /** The database's clock (ms since 1970), because the clocks of replicas differ. */
  readonly now: string;
}

/** An error of the store. Its message is for operators, never for visitors. */
export abstract class StoreError extends Error {}

/** The store cannot be reached or written to. Failures wait in the journal until it can. */
export class StoreAwayError extends StoreError {
  /** Whether the store must be opened again. */
  readonly isGone: boolean;

  constructor(message: string, { isGone = false, ...options }: ErrorOptions & { isGone?: boolean } = {}) {
    super(message, options);
    this.name = 'StoreAwayError';
    this.isGone = isGone;
  }
}

/**
 * Why one query failed.
 *
 * - `value`: the database never accepts these values.
 * - `slow`: the query took too long, or waited too long for a lock.
 * - `busy`: no free connection or memory, or another program has locked the database.
 * - `refused`: anything else, such as a missing privilege or table.
 * - `arriving`: the failure may still be in the journal.
 */
export type QueryFailure = 'value' | 'slow' | 'busy' | 'refused' | 'arriving';

/** One query failed or took too long. The store is available, and everything else continues. */
export class QueryFailedError extends StoreError {
  readonly reason: QueryFailure;

  constructor(reason: QueryFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'QueryFailedError';
    this.reason = reason;
  }
}

/** The most rows or values in one statement. More could exceed the databases' limit for values. */
const MOST_AT_ONCE = 500;

/** Splits a list into parts that fit into one statement. */
export function* inParts<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let start = 0; start < items.length; start += MOST_AT_ONCE) yield items.slice(start, start + MOST_AT_ONCE);
}

export type Columns = Readonly<Record<string, SqlValue>>;

/**
 * @param rows all with the same columns
 * @param suffix such as `ON CONFLICT` or `RETURNING`
 */
export async function insertRows<Row>(sql: Sql, table: string, rows: readonly Columns[], suffix = ''): Promise<Row[]> {
  const returned: Row[] = [];
  const columns = Object.keys(rows[0] ?? {});
  for (const some of inParts(rows)) {
    const text = `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${some.map(() => `(${placeholders(columns)})`).join(', ')} ${suffix}`;
    const values = some.flatMap((row) => columns.map((column) => row[column] ?? null));
    returned.push(...(await sql.all<Row>(text, values)));
  }
  return returned;
}

/** Returns `state = ?, result = ?` for `SET`. */
export function assignments(columns: Columns): string {
  return Object.keys(columns)
    .map((name) => `${name} = ?`)
    .join(', ');
}

/**
 * Reads rows as objects. Each column has the name of its property (`started_at AS "startedAt"`), and
 * properties of NULL columns are left out.
 */
export async function readShapes<Shape>(sql: Sql, text: string, values?: readonly SqlValue[]): Promise<Shape[]> {
  const rows = await sql.all<Record<string, SqlValue>>(text, values);
  return rows.map((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Shape);
}

/** Reports whether a query has any row. */
export async function exists(sql: Sql, text: string, values?: readonly SqlValue[]): Promise<boolean> {
  return (await sql.all(`${text} LIMIT 1`, values)).length > 0;
}

/** Reads one number, or 0 if there is no row or it is NULL. @param text must name the number `AS value` */
export async function readNumber(sql: Sql, text: string, values?: readonly SqlValue[]): Promise<number> {
  const [row] = await sql.all<{ value: number | null }>(text, values);
  return row?.value ?? 0;
}

/** Returns the time by the store's clock (ms since 1970). */
export function readClock(sql: Sql): Promise<number> {
  return readNumber(sql, `SELECT ${sql.dialect.now} AS value`);
}

/** Reports whether the database has a table or an index. */
export function hasTable(sql: Sql, name: string): Promise<boolean> {
  return exists(sql, sql.dialect.findTable, [name]);
}

/** Returns `?, ?, ?` for `IN`. */
export function placeholders(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}

/** Reads `desk_meta`: `schema`, `oldest_writer`, `changes`, and `notifications`, which is a lock. */
export async function readMeta(sql: Sql): Promise<Readonly<Record<string, string>>> {
  const rows = await sql.all<{ name: string; value: string }>('SELECT name, value FROM desk_meta');
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

export async function writeMeta(sql: Sql, name: string, value: string): Promise<void> {
  await sql.run(
    'INSERT INTO desk_meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    [name, value],
  );
}

/**
 * Counts a change of what the desk's pages show. Open pages poll the counter, so they also notice changes by other
 * replicas. Call it last in a transaction, because replicas wait for this row until the commit.
 */
export async function noteChange(sql: Sql): Promise<void> {
  await sql.run("UPDATE desk_meta SET value = CAST(CAST(value AS BIGINT) + 1 AS TEXT) WHERE name = 'changes'");
}

/** Runs a transaction that changes what the desk's pages show. */
export function changeShown<T>(driver: SqlDriver, work: (sql: Sql) => Promise<T>): Promise<T> {
  return driver.transaction(async (sql) => {
    const outcome = await work(sql);
    await noteChange(sql);
    return outcome;
  });
}

/** Runs a transaction that deletes what the desk's pages show, so that nothing of it remains on the disk. */
export async function deleteShown<T>(driver: SqlDriver, work: (sql: Sql) => Promise<T>): Promise<T> {
  const outcome = await changeShown(driver, work);
  await driver.overwriteDeleted();
  return outcome;
}

/** The longest text in a column (characters). Full records have the complete text. */
const MAX_COLUMN_LENGTH = 500;

/**
 * Shortens a text for a column and makes it valid there: PostgreSQL refuses NUL, and a lone surrogate is not valid UTF-8.
 *
 * @param maxLength characters
 */
export function toColumn(text: unknown, maxLength = MAX_COLUMN_LENGTH): string {
  return String(text).slice(0, maxLength).replaceAll('\0', '\uFFFD').toWellFormed();
}

export function toOptionalColumn(text: string | undefined): string | null {
  return text === undefined ? null : toColumn(text);
}
