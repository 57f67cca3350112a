import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { TerminalError } from '../../terminal/terminal-error.ts';
import type { DeskLog } from '../desk-log.ts';
import { openPostgres } from '../store/postgres.ts';
import type { SqlDriver } from '../store/sql.ts';
import { openMadeSqlite, openSqlite } from '../store/sqlite.ts';
import { openMadeStore, openStore, type Store } from '../store/store.ts';
import { listRunFolders } from './list-journals.ts';
import type { TerminalSettings } from './read-terminal-settings.ts';

export interface MadeStore {
  readonly store: Store;
  readonly driver: SqlDriver;
}

/**
 * Opens the store that a server has created, even while that server runs. Creates it if a server died before it did so
 * and left a journal.
 *
 * @throws TerminalError if there is no store
 * @throws StoreAwayError if the store cannot be used
 */
export async function openTerminalStore(
  settings: TerminalSettings,
  { rule, log }: { readonly rule: number; readonly log: DeskLog },
): Promise<MadeStore> {
  const driver = openMadeDriver(settings, log);
  const options = { rule, environment: settings.environment, log, news: settings.news };
  try {
    const isAwaited = listRunFolders(settings.dataDir).length > 0;
    const store = (await openMadeStore(driver, options)) ?? (isAwaited && (await openStore(driver, options)));
    if (store) return { store, driver };
    throw new TerminalError(toNoDesk(settings));
  } catch (error) {
    await driver.close();
    throw error;
  }
}

function openMadeDriver({ dataDir, databaseUrl }: TerminalSettings, log: DeskLog): SqlDriver {
  if (databaseUrl !== undefined) return openPostgres(databaseUrl);
  const path = toSqlitePath(dataDir);
  if (existsSync(path)) return openMadeSqlite(path);
  if (listRunFolders(dataDir).length === 0) throw new TerminalError(toNoDesk({ dataDir, databaseUrl }));
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  return openSqlite(path, { log });
}

export function toSqlitePath(dataDir: string): string {
  return join(dataDir, 'desk.sqlite');
}

function toNoDesk({ dataDir, databaseUrl }: Pick<TerminalSettings, 'dataDir' | 'databaseUrl'>): string {
  return databaseUrl === undefined
    ? `There is no desk in ${dataDir} (DATA_DIR) yet. The server creates it when it first starts. Start the server once, or set DATA_DIR to the server's value. With PostgreSQL, set DESK_DATABASE_URL.`
    : 'The database in DESK_DATABASE_URL has no desk yet. The server creates it when it first starts. Start the server once, or check that this is the right database.';
}
