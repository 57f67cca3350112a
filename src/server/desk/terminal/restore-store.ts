import { chownSync, existsSync, linkSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Second } from '../../../shared/units.ts';
import type { DeskLog } from '../desk-log.ts';
import { type FileLock, takeLock } from '../file-lock.ts';
import type { BackupHeader } from '../store/backup-lines.ts';
import { hasSchema } from '../store/migrations.ts';
import { openPostgres } from '../store/postgres.ts';
import { checkBackup, readTakenOver, restoreBackup, type TakenOver } from '../store/restore-backup.ts';
import type { SqlDriver } from '../store/sql.ts';
import { openMadeSqlite, openSqlite } from '../store/sqlite.ts';
import { openStore } from '../store/store.ts';
import { readBackupFile } from './backup-file.ts';
import { toSqlitePath } from './open-made-store.ts';
import type { TerminalSettings } from './read-terminal-settings.ts';
import { TerminalError } from './terminal-error.ts';

export interface RestoreOptions {
  readonly file: string;
  readonly settings: TerminalSettings;
  readonly rule: number;
  readonly log: DeskLog;
  /** Of a PostgreSQL that has incidents. */
  readonly replace: boolean;
}

export interface Restored {
  readonly header: BackupHeader;
  /** How many there are now (a count). */
  readonly incidents: number;
  /** What was there before, of SQLite; undefined where nothing was. */
  readonly aside?: string;
}

const NOTHING: TakenOver = { marks: [], secrets: [] };

/**
 * Puts a backup in the place of the store. The file is read to its end first; then all of it is in
 * place, or nothing has changed.
 *
 * @throws TerminalError while a server uses the store
 * @throws BackupError for what is no whole backup
 */
export async function restoreStore(options: RestoreOptions): Promise<Restored> {
  const header = await checkBackup(readBackupFile(options.file));
  const { databaseUrl } = options.settings;
  const rest = databaseUrl === undefined ? await restoreSqlite(options) : await restorePostgres(options, databaseUrl);
  return { header, ...rest };
}

async function restoreSqlite(options: RestoreOptions): Promise<Omit<Restored, 'header'>> {
  const { dataDir } = options.settings;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const lock = lockFolder(dataDir);
  const path = toSqlitePath(dataDir);
  const fresh = `${path}.restoring`;
  try {
    dropSqlite(fresh);
    const takenOver = existsSync(path) ? await readTakenOverOf(path) : NOTHING;
    const incidents = await fill(openSqlite(fresh, { log: options.log }), options, takenOver);
    const aside = existsSync(path) ? setAside(path) : undefined;
    renameSync(fresh, path);
    giveToOwner(path, dataDir);
    return { incidents, ...(aside !== undefined && { aside }) };
  } finally {
    dropSqlite(fresh);
    lock.release();
  }
}

/** @throws TerminalError */
function lockFolder(dataDir: string): FileLock {
  const path = join(dataDir, 'instance.lock');
  const lock = takeLock(path);
  giveToOwner(path, dataDir);
  if (lock) return lock;
  throw new TerminalError(
    `A server uses the folder ${dataDir} (DATA_DIR). Stop it, restore, and start it again: nothing was restored.`,
  );
}

/** A store that is broken is what a backup is for: whom it was told to forget cannot be read then. */
async function readTakenOverOf(path: string): Promise<TakenOver> {
  let driver: SqlDriver | undefined;
  try {
    driver = openMadeSqlite(path);
    return await readTakenOver(driver);
  } catch {
    return NOTHING;
  } finally {
    await driver?.close();
  }
}

async function fill(driver: SqlDriver, options: RestoreOptions, takenOver: TakenOver): Promise<number> {
  const { file, settings, rule, log } = options;
  try {
    await restoreBackup(driver, () => readBackupFile(file), { takenOver });
    await openStore(driver, { rule, environment: settings.environment, log }); // indexes what is searched
    const [row] = await driver.all<{ count: number }>('SELECT COUNT(*) AS count FROM desk_incidents');
    return row?.count ?? 0;
  } finally {
    await driver.close();
  }
}

/** What was there is kept under another name, and is in its place until the last moment. */
function setAside(path: string): string {
  const aside = `${path}.before-restore-${new Date().toISOString().replaceAll(':', '-')}`;
  for (const companion of ['-wal', '-shm']) {
    if (existsSync(path + companion)) renameSync(path + companion, aside + companion);
  }
  try {
    linkSync(path, aside);
  } catch {
    renameSync(path, aside); // not every file system has links
  }
  return aside;
}

function dropSqlite(path: string): void {
  for (const companion of ['', '-wal', '-shm']) rmSync(path + companion, { force: true });
}

/** Where root restores what a server of another user uses. */
function giveToOwner(path: string, dataDir: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dataDir);
  chownSync(path, uid, gid);
}

/** Without a heartbeat for this long a process does not serve; each tells of itself every second (ms). */
const SILENT_AFTER = 10 * Second;

async function restorePostgres(options: RestoreOptions, url: string): Promise<Omit<Restored, 'header'>> {
  const driver = openPostgres(url);
  let takenOver = NOTHING;
  try {
    if (await hasSchema(driver, driver.dialect)) {
      await requireQuiet(driver);
      if (!options.replace) await requireEmpty(driver);
      takenOver = await readTakenOver(driver);
    }
  } catch (error) {
    await driver.close();
    throw error;
  }
  return { incidents: await fill(driver, options, takenOver) };
}

async function requireQuiet(driver: SqlDriver): Promise<void> {
  const rows = await driver.all<{ id: string }>(
    `SELECT id FROM desk_runs WHERE ended IS NULL AND beat_at > ${driver.dialect.now} - ? ORDER BY id`,
    [SILENT_AFTER],
  );
  if (rows.length === 0) return;
  throw new TerminalError(
    `${rows.length === 1 ? 'A server uses' : `${rows.length} servers use`} this database (DESK_DATABASE_URL). Stop all of them, restore, and start them again: nothing was restored.`,
  );
}

async function requireEmpty(driver: SqlDriver): Promise<void> {
  const rows = await driver.all('SELECT 1 AS one FROM desk_incidents LIMIT 1');
  if (rows.length === 0) return;
  throw new TerminalError(
    'This database (DESK_DATABASE_URL) has a desk with incidents. Make a backup of it first, then put the other one in its place with --replace. Nothing was restored.',
  );
}
