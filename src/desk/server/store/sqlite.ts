import { closeSync, existsSync, mkdirSync, openSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { Millisecond, Second } from '../../../shared/units.ts';
import type { DeskLog } from '../desk-log.ts';
import {
  QueryFailedError,
  readNumber,
  type Sql,
  type SqlDialect,
  type SqlDriver,
  type SqlValue,
  StoreAwayError,
} from './sql.ts';

/** How long a statement waits for another program's lock (ms). It blocks the thread, so the work is tried again later. */
const BUSY_TIMEOUT = 200 * Millisecond;
/** The same in the desk's command (ms). */
const COMMAND_BUSY_TIMEOUT = 10 * Second;
/** The number of free pages returned to the disk at a time: 4 MB. */
const RECLAIMED_PAGES = 1000;

/** `secure_delete` overwrites deleted bytes, so that nothing of a deleted visitor remains in the file. */
const CONNECTION = 'PRAGMA foreign_keys = OFF; PRAGMA secure_delete = ON';

/** `SQLITE_CORRUPT` and `SQLITE_NOTADB`. */
const BROKEN = new Set([11, 26]);
/** The file cannot be used: `PERM`, `READONLY`, `IOERR`, `CORRUPT`, `FULL`, `CANTOPEN`, `PROTOCOL`, `NOLFS`, `NOTADB`. */
const UNUSABLE = new Set([3, 8, 10, 11, 13, 14, 15, 22, 26]);
const IO_ERROR = 10;
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
  return ask(() => createDriver(path, openSound(path)));
}

/**
 * Opens an existing file, which a running server may be using. It does not create, check or rename
 * anything.
 *
 * @throws StoreAwayError if the file cannot be opened
 */
export function openMadeSqlite(path: string): SqlDriver {
  return ask(() => {
    const database = new DatabaseSync(path, { timeout: COMMAND_BUSY_TIMEOUT });
    database.exec(`PRAGMA synchronous = NORMAL; ${CONNECTION}`);
    return createDriver(path, database);
  });
}

function openSound(path: string): DatabaseSync {
  if (path !== ':memory:') makeFile(path);
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT });
  try {
    // Has an effect only before the first table is created.
    database.exec('PRAGMA auto_vacuum = INCREMENTAL');
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; ${CONNECTION}`);
    const answer = database.prepare('PRAGMA quick_check(1)').get();
    if (answer?.quick_check !== 'ok') throw new BrokenFileError();
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

function createDriver(path: string, database: DatabaseSync): SqlDriver {
  const inode = path === ':memory:' ? undefined : statSync(path).ino;
  /** The last work on the one connection. */
  let last: Promise<unknown> = Promise.resolve();

  /** Frees the statement with its values, which otherwise stay in memory until the next garbage collection. */
  function query<T>(sql: string, run: (statement: StatementSync) => T): T {
    return ask(() => {
      const statement: StatementSync & { close?: () => void } = database.prepare(sql); // Node 24 cannot close it
      try {
        return run(statement);
      } finally {
        statement.close?.();
      }
    });
  }

  /** Queries the database at once, for work that has the connection. */
  const direct: Sql = {
    dialect,
    all: async <Row>(sql: string, values: readonly SqlValue[] = []) =>
      query(sql, (statement) => statement.all(...values) as Row[]), // the columns of our own schema
    run: async (sql, values = []) => query(sql, (statement) => Number(statement.run(...values).changes)),
  };

  /** Works when everything before has ended. Messages are handled in between, because statements block the thread. */
  function take<T>(work: () => Promise<T>): Promise<T> {
    const done = last.then(() => new Promise((resolve) => setImmediate(resolve))).then(work);
    last = done.catch(() => undefined);
    return done;
  }

  const sql: Sql = {
    dialect,
    all: (text, values) => take(() => direct.all(text, values)),
    run: (text, values) => take(() => direct.run(text, values)),
  };

  function transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return take(async () => {
      // Writes to a deleted file would be lost without an error.
      await check();
      ask(() => database.exec('BEGIN IMMEDIATE'));
      try {
        const result = await work(direct);
        ask(() => database.exec('COMMIT'));
        return result;
      } catch (error) {
        // SQLite rolls back by itself when the disk is full.
        if (database.isTransaction) database.exec('ROLLBACK');
        throw error;
      }
    });
  }

  async function readPragma(name: string): Promise<number> {
    const [row] = await sql.all<Record<string, number>>(`PRAGMA ${name}`);
    return row?.[name] ?? 0;
  }

  async function check(): Promise<void> {
    if (inode === undefined || statSync(path, { throwIfNoEntry: false })?.ino === inode) return;
    throw new StoreAwayError(`The desk's database (${path}) was deleted or replaced while it was open.`, {
      isGone: true,
    });
  }

  return {
    ...sql,
    isShared: false,
    reader: sql,
    transaction,
    migration: transaction,
    async usedBytes() {
      const pages = (await readPragma('page_count')) - (await readPragma('freelist_count'));
      const ofBuilds = await readNumber(sql, 'SELECT SUM(size) AS value FROM desk_build_files');
      return Math.max(0, pages * (await readPragma('page_size')) - ofBuilds);
    },
    // A prepared statement would free one page per step.
    reclaim: () => take(async () => ask(() => database.exec(`PRAGMA incremental_vacuum(${RECLAIMED_PAGES})`))),
    // `secure_delete` overwrites pages of the database. The write-ahead log may still contain older copies.
    overwriteDeleted: () => take(async () => ask(() => database.exec('PRAGMA wal_checkpoint(TRUNCATE)'))),
    check,
    close: () =>
      take(async () => {
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

function toStoreError(error: unknown): unknown {
  const code = readCode(error);
  const reason = error instanceof Error ? error.message : String(error);
  if (code === undefined && error instanceof Error && 'code' in error && INVALID_VALUE.test(String(error.code))) {
    return new QueryFailedError('value', reason, { cause: error });
  }
  if (code === undefined || UNUSABLE.has(code)) {
    const hint = code === IO_ERROR ? ' DATA_DIR must be on a local disk, with file locks and shared memory.' : '';
    return new StoreAwayError(`The desk's database cannot be used: ${reason}.${hint}`, {
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
