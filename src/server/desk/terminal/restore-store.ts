import { chownSync, existsSync, linkSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Second } from '../../../shared/units.ts';
import { TerminalError, UsageError } from '../../terminal/terminal-error.ts';
import type { DeskLog } from '../desk-log.ts';
import { type FileLock, takeLock } from '../file-lock.ts';
import { hasSchema, readMeta, SCHEMA_VERSION } from '../store/migrations.ts';
import { openPostgres } from '../store/postgres.ts';
import { finishRestore, readTakenOver, type TakenOver } from '../store/restore-backup.ts';
import type { SqlDriver } from '../store/sql.ts';
import { openMadeSqlite } from '../store/sqlite.ts';
import { openStore } from '../store/store.ts';
import { NO_BACKUP, readBackupFile } from './backup-file.ts';
import { toSqlitePath } from './open-made-store.ts';
import type { TerminalSettings } from './read-terminal-settings.ts';

export interface RestoreOptions {
  /** A SQLite backup. Undefined with PostgreSQL, for which `pg_restore` has already restored the tables. */
  readonly file: string | undefined;
  readonly settings: TerminalSettings;
  readonly rule: number;
  readonly log: DeskLog;
}

export interface Restored {
  /** When the backup was made (ms since 1970), if it says so. */
  readonly at?: number;
  /** The number of incidents after the restore. */
  readonly incidents: number;
  /** The file with the previous SQLite store; undefined if there was none. */
  readonly aside?: string;
}

/**
 * Replaces a SQLite store with a backup, or completes a restore by `pg_restore`. Visitors deleted after the backup was
 * made stay deleted. If it fails, a SQLite store is unchanged.
 *
 * @throws TerminalError while a server uses the store, and for a file that is not a complete backup
 */
export function restoreStore(options: RestoreOptions): Promise<Restored> {
  const { file, settings } = options;
  if (settings.databaseUrl !== undefined) {
    if (file === undefined) return restorePostgres(options, settings.databaseUrl);
    throw new TerminalError(
      'DESK_DATABASE_URL names a PostgreSQL database. Restore the dump with pg_restore, then run this command without a file. docs/desk.md, "Backups", has the commands.',
    );
  }
  if (file === undefined) throw new UsageError('Name the backup: restore <file>.');
  return restoreSqlite(options, file);
}

async function restoreSqlite(options: RestoreOptions, file: string): Promise<Restored> {
  const { dataDir } = options.settings;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const lock = lockFolder(dataDir);
  const path = toSqlitePath(dataDir);
  const fresh = `${path}.restoring`;
  try {
    dropSqlite(fresh);
    readBackupFile(file, fresh);
    const takenOver = existsSync(path) ? await readTakenOverOf(path) : undefined;
    const restored = await finish(openMadeSqlite(fresh), options, takenOver);
    const aside = existsSync(path) ? setAside(path) : undefined;
    renameSync(fresh, path);
    giveToOwner(path, dataDir);
    return { ...restored, ...(aside !== undefined && { aside }) };
  } finally {
    dropSqlite(fresh);
    lock.release();
  }
}

/** @throws TerminalError while a server uses the folder */
function lockFolder(dataDir: string): FileLock {
  const path = join(dataDir, 'instance.lock');
  const lock = takeLock(path);
  giveToOwner(path, dataDir);
  if (lock) return lock;
  throw new TerminalError(
    `A server is using the folder ${dataDir} (DATA_DIR). Stop it, then restore. Nothing was restored.`,
  );
}

/** Reads the deletion marks and keys of the previous store, or undefined if it is broken. */
async function readTakenOverOf(path: string): Promise<TakenOver | undefined> {
  let driver: SqlDriver | undefined;
  try {
    driver = openMadeSqlite(path);
    return await readTakenOver(driver);
  } catch {
    return undefined;
  } finally {
    await driver?.close();
  }
}

async function finish(
  driver: SqlDriver,
  { settings, rule, log }: RestoreOptions,
  takenOver?: TakenOver,
): Promise<Restored> {
  try {
    if (!(await hasSchema(driver))) throw new TerminalError(NO_BACKUP);
    const { schema, backup_at: at } = await readMeta(driver);
    if (Number(schema) > SCHEMA_VERSION) {
      throw new TerminalError(
        `The backup was made by a newer version (schema ${schema}; this version supports ${SCHEMA_VERSION}). Restore it with that version.`,
      );
    }
    await finishRestore(driver, takenOver);
    await driver.run("DELETE FROM desk_meta WHERE name = 'backup_at'");
    await openStore(driver, { rule, environment: settings.environment, log }); // builds the search index
    const [row] = await driver.all<{ count: number }>('SELECT COUNT(*) AS count FROM desk_incidents');
    return { incidents: row?.count ?? 0, ...(at !== undefined && { at: Number(at) }) };
  } finally {
    await driver.close();
  }
}

/** Keeps the previous store under another name. Its own name still works until the backup replaces it. */
function setAside(path: string): string {
  const aside = `${path}.before-restore-${new Date().toISOString().replaceAll(':', '-')}`;
  for (const companion of ['-wal', '-shm']) {
    if (existsSync(path + companion)) renameSync(path + companion, aside + companion);
  }
  try {
    linkSync(path, aside);
  } catch {
    renameSync(path, aside); // for file systems without hard links
  }
  return aside;
}

function dropSqlite(path: string): void {
  for (const companion of ['', '-wal', '-shm']) rmSync(path + companion, { force: true });
}

/** Lets the server's user own the files if root restores them. */
function giveToOwner(path: string, dataDir: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dataDir);
  chownSync(path, uid, gid);
}

/** A process without a heartbeat for this long is not running. Each process writes one every second (ms). */
const SILENT_AFTER = 10 * Second;

/** Creates the tables on an empty database, for `pg_restore`. */
async function restorePostgres(options: RestoreOptions, url: string): Promise<Restored> {
  const driver = openPostgres(url);
  try {
    if (await hasSchema(driver)) await requireQuiet(driver);
    else await openStore(driver, { rule: options.rule, environment: options.settings.environment, log: options.log });
  } catch (error) {
    await driver.close();
    throw error;
  }
  return finish(driver, options);
}

async function requireQuiet(driver: SqlDriver): Promise<void> {
  const rows = await driver.all<{ id: string }>(
    `SELECT id FROM desk_runs WHERE ended IS NULL AND beat_at > ${driver.dialect.now} - ? ORDER BY id`,
    [SILENT_AFTER],
  );
  if (rows.length === 0) return;
  throw new TerminalError(
    `${rows.length === 1 ? 'A server is using' : `${rows.length} servers are using`} this database (DESK_DATABASE_URL). Stop all servers, then restore.`,
  );
}
