import { closeSync, existsSync, mkdirSync, openSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { Millisecond, Second } from '../../../shared/units.ts';
import type { DeskLog } from '../desk-log.ts';
import { QueryFailedError, type Sql, type SqlDialect, type SqlDriver, type SqlValue, StoreAwayError } from './sql.ts';
import { createTurns } from './turns.ts';

/** How long SQLite waits for the lock of another program (ms). It blocks the thread in this time. */
const BUSY_TIMEOUT = 50 * Millisecond;
/** Then other work runs for this long before the next try (ms). */
const BUSY_RETRY = 50 * Millisecond;
/** How long it is tried in total (ms). The desk's command writes to the store of a running server for moments only. */
const BUSY_PATIENCE = 2 * Second;
/** The same for the command itself (ms). */
const COMMAND_PATIENCE = 10 * Second;
/** Statements run for so long without a break (ms). */
const LONGEST_RUN = 20 * Millisecond;
/** Prepared statements that are kept (a count). */
const MAX_STATEMENTS = 200;
/** Longer ones have hundreds of rows, and seldom the same number of them (characters). */
const MAX_KEPT_LENGTH = 2000;
/** Free pages that are given back at a time (a count): 4 MB. */
const RECLAIMED_PAGES = 1000;

/** Deleted bytes are overwritten, so that a visitor who was forgotten is nowhere in the file. */
const CONNECTION = 'PRAGMA foreign_keys = OFF; PRAGMA secure_delete = ON';

/** `SQLITE_CORRUPT` and `SQLITE_NOTADB`. */
const BROKEN = new Set([11, 26]);
/** The file cannot be used: `PERM`, `READONLY`, `IOERR`, `CORRUPT`, `FULL`, `CANTOPEN`, `PROTOCOL`, `NOLFS`, `NOTADB`. */
const UNUSABLE = new Set([3, 8, 10, 11, 13, 14, 15, 22, 26]);
/** Another program holds the lock: `BUSY` and `LOCKED`. */
const LOCKED = new Set([5, 6]);
/** Errors about values: `TOOBIG`, `CONSTRAINT`, `MISMATCH`, `RANGE`. */
const REFUSED_VALUE = new Set([18, 19, 20, 25]);
/** Node refuses values of types that SQLite does not know. */
const INVALID_VALUE = /^ERR_(?:INVALID_ARG|OUT_OF_RANGE)/;

const dialect: SqlDialect = {
  name: 'sqlite',
  blob: 'BLOB',
  keyed: 'WITHOUT ROWID',
  serial: 'INTEGER',
  forUpdate: '',
  now: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
};

/**
 * Opens the file, or makes it. One that is broken is set aside under another name, because a server
 * must start whatever its disk did to it.
 *
 * @param path `:memory:` for tests
 * @throws StoreAwayError where it can be neither opened nor made
 */
export function openSqlite(path: string, { log }: { log: DeskLog }): SqlDriver {
  try {
    return new SqliteDriver(path, openSound(path));
  } catch (error) {
    if (!isBroken(error)) throw toStoreError(error);
  }
  const aside = `${path}.corrupt-${new Date().toISOString().replaceAll(':', '-')}`;
  setAside(path, aside);
  log.error(
    { file: aside },
    "The desk's database was broken. It is kept under another name, and a new one was begun: what the desk knew is not in it.",
  );
  try {
    return new SqliteDriver(path, openSound(path));
  } catch (error) {
    throw toStoreError(error);
  }
}

/**
 * Opens a file that is there, beside a server that runs perhaps: nothing is made, looked through or set
 * aside.
 *
 * @throws StoreAwayError where it cannot be opened
 */
export function openMadeSqlite(path: string): SqlDriver {
  try {
    // These statements are not tried again.
    const database = new DatabaseSync(path, { timeout: COMMAND_PATIENCE });
    database.exec(`PRAGMA synchronous = NORMAL; ${CONNECTION}; PRAGMA busy_timeout = ${BUSY_TIMEOUT}`);
    return new SqliteDriver(path, database, COMMAND_PATIENCE);
  } catch (error) {
    throw toStoreError(error);
  }
}

function openSound(path: string): DatabaseSync {
  if (path !== ':memory:') makeFile(path);
  // The statements here are not tried again.
  const database = new DatabaseSync(path, { timeout: BUSY_PATIENCE });
  try {
    // Takes effect before the first table alone.
    database.exec('PRAGMA auto_vacuum = INCREMENTAL');
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; ${CONNECTION}`);
    const answer = database.prepare('PRAGMA quick_check(1)').get();
    if (answer?.quick_check !== 'ok') throw new BrokenFileError();
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT}`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** SQLite would let everybody read it; the files that it puts beside it take the mode of this one. */
function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // Not where it is there: closing a file takes the locks from whoever else of this process has it open.
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
}

class BrokenFileError extends Error {}

function setAside(path: string, aside: string): void {
  renameSync(path, aside);
  for (const companion of ['-wal', '-shm']) {
    if (existsSync(path + companion)) renameSync(path + companion, aside + companion);
  }
}

interface TakeOptions {
  /** The longest wait for the lock of another program (ms). */
  readonly patience?: number | undefined;
  /** Whether nothing of the work has been done yet. */
  readonly mayRepeat?: () => boolean;
}

class SqliteDriver implements SqlDriver {
  readonly dialect = dialect;
  readonly isShared = false;
  /** There is one connection, and its statements run one after the other in any case. */
  readonly reader: Sql = this;
  readonly quick: Sql = this;
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #inode: number | undefined;
  readonly #patience: number;
  #lastBreak = 0;
  readonly #statements = new Map<string, StatementSync>();
  readonly #turns = createTurns();
  /** What speaks to the database without waiting for its turn. */
  readonly #direct: Sql = {
    all: async <Row>(sql: string, values: readonly SqlValue[] = []) =>
      this.#ask(() => this.#prepare(sql).all(...values) as Row[]), // the columns of our own schema
    run: async (sql, values = []) => this.#ask(() => Number(this.#prepare(sql).run(...values).changes)),
  };

  /** @param patience how long it waits for the lock of another program (ms) */
  constructor(path: string, database: DatabaseSync, patience = BUSY_PATIENCE) {
    this.#path = path;
    this.#database = database;
    this.#inode = path === ':memory:' ? undefined : statSync(path).ino;
    this.#patience = patience;
  }

  all<Row>(sql: string, values?: readonly SqlValue[]): Promise<Row[]> {
    return this.#take(() => this.#direct.all<Row>(sql, values));
  }

  run(sql: string, values?: readonly SqlValue[]): Promise<number> {
    return this.#take(() => this.#direct.run(sql, values));
  }

  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#between('BEGIN IMMEDIATE', work);
  }

  migration<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#between('BEGIN IMMEDIATE', work, Number.POSITIVE_INFINITY);
  }

  snapshot<T>(read: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#between('BEGIN', read);
  }

  /** Statements block the thread one after the other, so messages get a chance from time to time. */
  async #letOthers(): Promise<void> {
    if (performance.now() - this.#lastBreak < LONGEST_RUN) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.#lastBreak = performance.now();
  }

  /** Takes a turn, and another one for as long as another program holds the lock. */
  async #take<T>(work: () => Promise<T>, options: TakeOptions = {}): Promise<T> {
    const { patience = this.#patience, mayRepeat = () => true } = options;
    const end = performance.now() + patience;
    for (;;) {
      await this.#letOthers();
      try {
        return await this.#turns.take(work);
      } catch (error) {
        if (!isBusy(error) || !mayRepeat() || performance.now() > end) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, BUSY_RETRY));
    }
  }

  #between<T>(begin: string, work: (sql: Sql) => Promise<T>, patience?: number): Promise<T> {
    let hasBegun = false;
    const transact = async () => {
      // What is written to a deleted file is lost, and nobody is told.
      await this.check();
      this.#ask(() => this.#database.exec(begin));
      hasBegun = true;
      try {
        const result = await work(this.#direct);
        this.#ask(() => this.#database.exec('COMMIT'));
        return result;
      } catch (error) {
        // A full disk has ended it already.
        if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
        throw error;
      }
    };
    return this.#take(transact, { patience, mayRepeat: () => !hasBegun });
  }

  async usedBytes(): Promise<number> {
    const read = async (pragma: string) => Object.values((await this.all<Record<string, number>>(pragma))[0] ?? {})[0];
    const pages = ((await read('PRAGMA page_count')) ?? 0) - ((await read('PRAGMA freelist_count')) ?? 0);
    return pages * ((await read('PRAGMA page_size')) ?? 0);
  }

  async reclaim(): Promise<void> {
    // A prepared statement would take one page a step.
    await this.#take(async () => {
      this.#ask(() => this.#database.exec(`PRAGMA incremental_vacuum(${RECLAIMED_PAGES})`));
    });
  }

  async overwriteDeleted(): Promise<void> {
    // `secure_delete` overwrites the pages of the database. The write-ahead log may still have older ones.
    const truncate = async () => {
      const [row] = await this.#direct.all<{ busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)');
      if (row?.busy === 1) throw new QueryFailedError('busy', 'The write-ahead log is in use.');
    };
    await this.#take(truncate).catch((error: unknown) => {
      if (!isBusy(error)) throw error;
    });
  }

  async check(): Promise<void> {
    if (this.#inode === undefined) return;
    if (statSync(this.#path, { throwIfNoEntry: false })?.ino === this.#inode) return;
    throw new StoreAwayError(`The desk's database (${this.#path}) was deleted or exchanged while it was open.`, {
      isGone: true,
    });
  }

  async close(): Promise<void> {
    await this.#turns.take(async () => {
      this.#statements.clear();
      if (this.#database.isOpen) this.#database.close();
    });
  }

  #prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known) return known;
    if (this.#statements.size >= MAX_STATEMENTS) this.#statements.clear();
    const statement = this.#database.prepare(sql);
    if (sql.length <= MAX_KEPT_LENGTH) this.#statements.set(sql, statement);
    return statement;
  }

  #ask<T>(question: () => T): T {
    try {
      return question();
    } catch (error) {
      throw toStoreError(error);
    }
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof QueryFailedError && error.reason === 'busy';
}

function toStoreError(error: unknown): unknown {
  const code = readCode(error);
  const reason = error instanceof Error ? error.message : String(error);
  if (code === undefined && error instanceof Error && 'code' in error && INVALID_VALUE.test(String(error.code))) {
    return new QueryFailedError('value', reason, { cause: error });
  }
  if (code === undefined || UNUSABLE.has(code)) {
    return new StoreAwayError(`The desk's database cannot be used: ${reason}.`, {
      cause: error,
      isGone: isBroken(error),
    });
  }
  const failure = LOCKED.has(code) ? 'busy' : REFUSED_VALUE.has(code) ? 'value' : 'refused';
  return new QueryFailedError(failure, reason, { cause: error });
}

function isBroken(error: unknown): boolean {
  const code = readCode(error);
  return error instanceof BrokenFileError || (code !== undefined && BROKEN.has(code));
}

/** The primary result code of SQLite; undefined for errors of another kind. */
function readCode(error: unknown): number | undefined {
  if (!(error instanceof Error && 'errcode' in error)) return undefined;
  return Number(error.errcode) % 256;
}
