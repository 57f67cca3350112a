import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openPostgres } from '../store/postgres.ts';
import { openMadeSqlite } from '../store/sqlite.ts';
import { openMadeStore, type Store } from '../store/store.ts';
import { TerminalError } from './terminal-error.ts';

interface StoreSettings {
  readonly dataDir: string;
  /** Undefined for SQLite in `dataDir`. */
  readonly databaseUrl: string | undefined;
  readonly environment: string;
}

/**
 * Opens the store that a server has created, even while that server runs.
 *
 * @throws TerminalError if there is no store
 * @throws StoreAwayError if the store cannot be used
 */
export async function openTerminalStore(settings: StoreSettings): Promise<Store> {
  const { dataDir, databaseUrl, environment } = settings;
  const path = join(dataDir, 'desk.sqlite');
  if (databaseUrl === undefined && !existsSync(path)) {
    throw new TerminalError(
      `There is no desk in ${dataDir} (DATA_DIR) yet. The server creates it when it first starts. Start the server once, or set DATA_DIR to the server's value. With PostgreSQL, set DESK_DATABASE_URL.`,
    );
  }
  const driver = databaseUrl === undefined ? openMadeSqlite(path) : openPostgres(databaseUrl);
  const store = await openMadeStore(driver, { environment });
  if (store) return store;
  await driver.close();
  throw new TerminalError(
    'The database has no desk yet. The server creates it when it first starts. Start the server once, or check that this is the right database.',
  );
}
