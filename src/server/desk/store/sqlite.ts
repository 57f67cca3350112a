import { closeSync, existsSync, mkdirSync, openSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { Millisecond, Second } from '../../../shared/units.ts';
import type { DeskLog } from '../desk-log.ts';
import { createSlots } from './slots.ts';
import { QueryFailedError, type Sql, type SqlDialect, type SqlDriver, type SqlValue, StoreAwayError } from './sql.ts';

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
  findTable: 'SELECT 1 FROM sqlite_master WHERE name = ?',
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
    return createDriver(path, openSound(path));
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
    return createDriver(path, openSound(path));
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
    return createDriver(path, database, COMMAND_PATIENCE);
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

/** @param busyPatience how long it waits for the lock of another program (ms) */
function createDriver(path: string, database: DatabaseSync, busyPatience = BUSY_PATIENCE): SqlDriver {
  const inode = path === ':memory:' ? undefined : statSync(path).ino;
  const statements = new Map<string, StatementSync>();
  /** There is one connection. */
  const slots = createSlots({ count: 1 });
  let lastBreak = 0;

  function prepare(sql: string): StatementSync {
    const known = statements.get(sql);
    if (known) return known;
    if (statements.size >= MAX_STATEMENTS) statements.clear();
    const statement = database.prepare(sql);
    if (sql.length <= MAX_KEPT_LENGTH) statements.set(sql, statement);
    return statement;
  }

  /** Speaks to the database without waiting for a slot. */
  const direct: Sql = {
    dialect,
    all: async <Row>(sql: string, values: readonly SqlValue[] = []) => ask(() => prepare(sql).all(...values) as Row[]), // the columns of our own schema
    run: async (sql, values = []) => ask(() => Number(prepare(sql).run(...values).changes)),
  };

  /** Statements block the thread one after the other, so messages get a chance from time to time. */
  async function letOthers(): Promise<void> {
    if (performance.now() - lastBreak < LONGEST_RUN) return;
    await new Promise((resolve) => setImmediate(resolve));
    lastBreak = performance.now();
  }

  /** Takes the slot, and takes it again for as long as another program holds the lock. */
  async function take<T>(work: () => Promise<T>, options: TakeOptions = {}): Promise<T> {
    const { patience = busyPatience, mayRepeat = () => true } = options;
    const end = performance.now() + patience;
    for (;;) {
      await letOthers();
      try {
        return await slots.use(work);
      } catch (error) {
        if (!isBusy(error) || !mayRepeat() || performance.now() > end) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, BUSY_RETRY));
    }
  }

  function between<T>(work: (sql: Sql) => Promise<T>, patience?: number): Promise<T> {
    let hasBegun = false;
    const transact = async () => {
      // Writes to a deleted file would be lost without an error.
      await check();
      ask(() => database.exec('BEGIN IMMEDIATE'));
      hasBegun = true;
      try {
        const result = await work(direct);
        ask(() => database.exec('COMMIT'));
        return result;
      } catch (error) {
        // A full disk has ended it already.
        if (database.isTransaction) database.exec('ROLLBACK');
        throw error;
      }
    };
    return take(transact, { patience, mayRepeat: () => !hasBegun });
  }

  async function readPragma(name: string): Promise<number> {
    const [row] = await sql.all<Record<string, number>>(`PRAGMA ${name}`);
    return row?.[name] ?? 0;
  }

  async function check(): Promise<void> {
    if (inode === undefined) return;
    if (statSync(path, { throwIfNoEntry: false })?.ino === inode) return;
    throw new StoreAwayError(`The desk's database (${path}) was deleted or replaced while it was open.`, {
      isGone: true,
    });
  }

  const sql: Sql = {
    dialect,
    all: (text, values) => take(() => direct.all(text, values)),
    run: (text, values) => take(() => direct.run(text, values)),
  };

  return {
    ...sql,
    isShared: false,
    reader: sql,
    quick: sql,
    transaction: (work) => between(work),
    migration: (work) => between(work, Number.POSITIVE_INFINITY),
    async usedBytes() {
      const pages = (await readPragma('page_count')) - (await readPragma('freelist_count'));
      return pages * (await readPragma('page_size'));
    },
    async reclaim() {
      // A prepared statement would take one page a step.
      await take(async () => ask(() => database.exec(`PRAGMA incremental_vacuum(${RECLAIMED_PAGES})`)));
    },
    async overwriteDeleted() {
      // `secure_delete` overwrites the pages of the database. The write-ahead log may still have older ones.
      const truncate = async () => {
        const [row] = await direct.all<{ busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)');
        if (row?.busy === 1) throw new QueryFailedError('busy', 'The write-ahead log is in use.');
      };
      await take(truncate).catch((error: unknown) => {
        if (!isBusy(error)) throw error;
      });
    },
    check,
    close: () =>
      slots.use(async () => {
        statements.clear();
        if (database.isOpen) database.close();
      }),
  };
}

function ask<T>(question: () => T): T {
  try {
    return question();
  } catch (error) {
    throw toStoreError(error);
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
