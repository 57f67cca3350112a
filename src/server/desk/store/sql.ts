export type SqlValue = string | number | null | Uint8Array;

/** What SQLite and PostgreSQL both understand, with `?` for values. */
export interface Sql {
  readonly dialect: SqlDialect;
  /** `Row` is what the columns of our own schema hold. */
  all<Row>(sql: string, values?: readonly SqlValue[]): Promise<Row[]>;
  /** @returns how many rows were changed */
  run(sql: string, values?: readonly SqlValue[]): Promise<number>;
}

/** One open database. Its own `all` and `run` are for what is written, and for what the writer reads. */
export interface SqlDriver extends Sql {
  /** For the questions of the desk's pages: however slow they are, they hold up neither the writer nor `quick`. */
  readonly reader: Sql;
  /** For short statements that must not wait for anything else: the heartbeat, sign-in, the look for changes. */
  readonly quick: Sql;
  /** Several processes may write to it. */
  readonly isShared: boolean;
  /** One after the other. All of it stays, or nothing. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** A transaction without any time limit. Changing the schema of a large store can take minutes. */
  migration<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** How much room the database uses (bytes). PostgreSQL's files keep that of deleted rows for a time. */
  usedBytes(): Promise<number>;
  /** Gives room that was deleted back to the disk, a part of it at a time. */
  reclaim(): Promise<void>;
  /**
   * Overwrites deleted bytes on the disk. PostgreSQL does nothing here: it overwrites them when it uses
   * the space again.
   */
  overwriteDeleted(): Promise<void>;
  /** Looks whether it is still the database that was opened. @throws StoreAwayError where it is not */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Where the two differ. */
export interface SqlDialect {
  readonly name: 'sqlite' | 'postgres';
  /** The type of bytes. */
  readonly blob: string;
  /** Behind a table whose key is most of its row. */
  readonly keyed: string;
  /** A whole number that the database counts up itself, before `PRIMARY KEY`. */
  readonly serial: string;
  /** Behind a `SELECT` whose rows are to stay as they are until the transaction ends. */
  readonly forUpdate: string;
  /** Finds a table or an index by its name. */
  readonly findTable: string;
  /** The database's own clock (ms since 1970): the clocks of replicas differ. */
  readonly now: string;
}

/** The store did not do what it was asked. Its message is for operators, never for visitors. */
export abstract class StoreError extends Error {}

/** The store cannot be reached, or takes nothing: what is to be stored waits in the journal. */
export class StoreAwayError extends StoreError {
  /** What was open is of no more use: it must be opened anew. */
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
 * - `slow`: it took too long, or waited too long for a lock.
 * - `busy`: it found no free connection, no memory, or the database locked by another program.
 * - `refused`: anything else, such as a missing privilege or table.
 * - `arriving`: what was asked for may still be on its way from the journal.
 */
export type QueryFailure = 'value' | 'slow' | 'busy' | 'refused' | 'arriving';

/** One query failed or took too long. The store is there, and everything else continues. */
export class QueryFailedError extends StoreError {
  readonly reason: QueryFailure;
  /** A table is missing. If all of them are, the database was emptied. */
  readonly isTableMissing: boolean;

  constructor(
    reason: QueryFailure,
    message: string,
    { isTableMissing = false, ...options }: ErrorOptions & { isTableMissing?: boolean } = {},
  ) {
    super(message, options);
    this.name = 'QueryFailedError';
    this.reason = reason;
    this.isTableMissing = isTableMissing;
  }
}

/** Rows or values that one statement takes (a count), so that its values stay below what either database allows. */
const MOST_AT_ONCE = 500;

/** Splits a list into parts that one statement takes. */
export function* inParts<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let start = 0; start < items.length; start += MOST_AT_ONCE) yield items.slice(start, start + MOST_AT_ONCE);
}

export type Columns = Readonly<Record<string, SqlValue>>;

/**
 * @param rows all with the same columns
 * @param suffix what to do on conflict, what to return
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

/** `state = ?, assignee = ?`: for `SET`. */
export function assignments(columns: Columns): string {
  return Object.keys(columns)
    .map((name) => `${name} = ?`)
    .join(', ');
}

/**
 * Reads rows into a shape: each column has the name of its property (`started_at AS "startedAt"`), and a
 * property is left out if its column is NULL.
 */
export async function readShapes<Shape>(sql: Sql, text: string, values?: readonly SqlValue[]): Promise<Shape[]> {
  const rows = await sql.all<Record<string, SqlValue>>(text, values);
  return rows.map((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Shape);
}

/** Whether a query has any row. */
export async function exists(sql: Sql, text: string, values?: readonly SqlValue[]): Promise<boolean> {
  return (await sql.all(`${text} LIMIT 1`, values)).length > 0;
}

/** Reads one number: 0 if there is no row, or it is NULL. @param text names it `AS value` */
export async function readNumber(sql: Sql, text: string, values?: readonly SqlValue[]): Promise<number> {
  const [row] = await sql.all<{ value: number | null }>(text, values);
  return row?.value ?? 0;
}

/** The time (ms since 1970) by the store's clock. */
export function readClock(sql: Sql): Promise<number> {
  return readNumber(sql, `SELECT ${sql.dialect.now} AS value`);
}

/** Whether the database has a table or an index. */
export function hasTable(sql: Sql, name: string): Promise<boolean> {
  return exists(sql, sql.dialect.findTable, [name]);
}

/** `?, ?, ?`: for `IN`. */
export function placeholders(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}
