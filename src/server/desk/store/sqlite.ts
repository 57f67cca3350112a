import { closeSync, existsSync, mkdirSync, openSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { Millisecond, Second } from '../../../shared/units.ts';
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

/** How long SQLite waits for another program's lock (ms). The wait blocks the thread. */
const BUSY_TIMEOUT = 50 * Millisecond;
/** The pause before the next attempt (ms), in which other work runs. */
const BUSY_RETRY = 50 * Millisecond;
/** The longest wait for a lock, over all attempts (ms). The desk's command holds one only briefly. */
const BUSY_PATIENCE = 2 * Second;
/** The same for the command itself (ms). */
const COMMAND_PATIENCE = 10 * Second;
/** How long statements run without a break (ms). */
const LONGEST_RUN = 20 * Millisecond;
/** The number of prepared statements in the cache. */
const MAX_STATEMENTS = 200;
/** Longer statements are not cached (characters): they insert hundreds of rows, rarely the same number twice. */
const MAX_KEPT_LENGTH = 2000;
/** The number of free pages returned to the disk at a time: 4 MB. */
const RECLAIMED_PAGES = 1000;

/** `secure_delete` overwrites deleted bytes, so that nothing of a deleted visitor remains in the file. */
const CONNECTION = 'PRAGMA foreign_keys = OFF; PRAGMA secure_delete = ON';

/** `SQLITE_CORRUPT` and `SQLITE_NOTADB`. */
const BROKEN = new Set([11, 26]);
/** The file cannot be used: `PERM`, `READONLY`, `IOERR`, `CORRUPT`, `FULL`, `CANTOPEN`, `PROTOCOL`, `NOLFS`, `NOTADB`. */
const UNUSABLE = new Set([3, 8, 10, 11, 13, 14, 15, 22, 26]);
/** Another program holds the lock: `BUSY` and `LOCKED`. */
const LOCKED = new Set([5, 6]);
/** Errors about values: `TOOBIG`, `CONSTRAINT`, `MISMATCH`, `RANGE`. */
const REFUSED_VALUE = new Set([18, 19, 20, 25]);
/** Node's errors for values of types that SQLite does not have. */
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
 * Opens or creates the database file. A corrupt file is renamed and replaced by a new one, so that the
 * server starts after a disk failure too.
 *
 * @param path `:memory:` for tests
 * @throws StoreAwayError if the file can be neither opened nor created
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
    "The desk's database was corrupt. Spillway renamed it and created an empty one. To get the data back, restore a backup.",
  );
  try {
    return createDriver(path, openSound(path));
  } catch (error) {
    throw toStoreError(error);
  }
}

/**
 * Opens an existing file, which a running server may be using. It does not create, check or rename
 * anything.
 *
 * @throws StoreAwayError if the file cannot be opened
 */
export function openMadeSqlite(path: string): SqlDriver {
  try {
    // These statements have no retry, so SQLite itself waits for the lock.
    const database = new DatabaseSync(path, { timeout: COMMAND_PATIENCE });
    database.exec(`PRAGMA synchronous = NORMAL; ${CONNECTION}; PRAGMA busy_timeout = ${BUSY_TIMEOUT}`);
    return createDriver(path, database, COMMAND_PATIENCE);
  } catch (error) {
    throw toStoreError(error);
  }
}

function openSound(path: string): DatabaseSync {
  if (path !== ':memory:') makeFile(path);
  // These statements have no retry, so SQLite itself waits for the lock.
  const database = new DatabaseSync(path, { timeout: BUSY_PATIENCE });
  try {
    // Has an effect only before the first table is created.
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

/** Creates the file readable only by its owner. SQLite creates the -wal and -shm files with the same mode. */
function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // An existing file is not opened here: closing it would release the locks of the whole process on it.
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
  /** The longest wait for another program's lock (ms). */
  readonly patience?: number | undefined;
  /** Whether the work has not started yet. */
  readonly mayRepeat?: () => boolean;
}

/** @param busyPatience the longest wait for another program's lock (ms) */
function createDriver(path: string, database: DatabaseSync, busyPatience = BUSY_PATIENCE): SqlDriver {
  const inode = path === ':memory:' ? undefined : statSync(path).ino;
  const statements = new Map<string, StatementSync>();
  /** One slot, because there is one connection. */
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

  /** Queries the database without waiting for a slot. */
  const direct: Sql = {
    dialect,
    all: async <Row>(sql: string, values: readonly SqlValue[] = []) => ask(() => prepare(sql).all(...values) as Row[]), // the columns of our own schema
    run: async (sql, values = []) => ask(() => Number(prepare(sql).run(...values).changes)),
  };

  /** Lets other work run from time to time, because each statement blocks the thread. */
  async function letOthers(): Promise<void> {
    if (performance.now() - lastBreak < LONGEST_RUN) return;
    await new Promise((resolve) => setImmediate(resolve));
    lastBreak = performance.now();
  }

  /** Does the work in the slot, and repeats it while another program holds the lock. */
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
        // SQLite rolls back by itself when the disk is full.
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
      const ofBuilds = await readNumber(sql, 'SELECT SUM(length(data)) AS value FROM desk_blobs');
      return Math.max(0, pages * (await readPragma('page_size')) - ofBuilds);
    },
    async reclaim() {
      // A prepared statement would free one page per step.
      await take(async () => ask(() => database.exec(`PRAGMA incremental_vacuum(${RECLAIMED_PAGES})`)));
    },
    async overwriteDeleted() {
      // `secure_delete` overwrites pages of the database. The write-ahead log may still contain older copies.
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

/** Returns SQLite's primary result code, or undefined for other errors. */
function readCode(error: unknown): number | undefined {
  if (!(error instanceof Error && 'errcode' in error)) return undefined;
  return Number(error.errcode) % 256;
}
