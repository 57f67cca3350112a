export type SqlValue = string | number | null | Uint8Array;

/** What SQLite and PostgreSQL both understand, with `?` for values. */
export interface Sql {
  /** `Row` is what the columns of our own schema hold. */
  all<Row>(sql: string, values?: readonly SqlValue[]): Promise<Row[]>;
  /** @returns how many rows were changed */
  run(sql: string, values?: readonly SqlValue[]): Promise<number>;
}

/** One open database. Its own `all` and `run` are for what is written, and for what the writer reads. */
export interface SqlDriver extends Sql {
  readonly dialect: SqlDialect;
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
  /** Reads what is stored at one moment, however long it takes, and holds up nobody who writes meanwhile. */
  snapshot<T>(read: (sql: Sql) => Promise<T>): Promise<T>;
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

/** Rows that one statement takes (a count), so that its values stay below what either database allows. */
const ROWS_A_STATEMENT = 500;

/**
 * @param columns names, in the order of the values of each row
 * @param suffix what to do on conflict, what to return
 */
export async function insertRows<Row>(
  sql: Sql,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly SqlValue[])[],
  suffix = '',
): Promise<Row[]> {
  const returned: Row[] = [];
  const row = `(${columns.map(() => '?').join(', ')})`;
  for (let start = 0; start < rows.length; start += ROWS_A_STATEMENT) {
    const some = rows.slice(start, start + ROWS_A_STATEMENT);
    const text = `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${some.map(() => row).join(', ')} ${suffix}`;
    returned.push(...(await sql.all<Row>(text, some.flat())));
  }
  return returned;
}

/** `?, ?, ?`: for `IN`. */
export function placeholders(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}
