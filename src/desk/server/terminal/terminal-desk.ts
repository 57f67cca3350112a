import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Environment, readSettings, SETTINGS } from '#engine/tracker';
import { SQLITE_FILE } from '../data-files.ts';
import { DESK_SETTINGS } from '../settings.ts';
import { openPostgres } from '../store/postgres.ts';
import { openMadeSqlite } from '../store/sqlite.ts';
import { openMadeStore, type Store } from '../store/store.ts';
import { NO_DESK, TerminalError } from './terminal-error.ts';

/** The desk as the commands see it. */
export interface TerminalDesk {
  readonly store: Store;
  readonly settings: TerminalSettings;
  readonly env: Environment;
  /** The folder of the project. */
  readonly root: string;
}

type TerminalSettings = ReturnType<typeof readTerminalSettings>;

/**
 * @throws TerminalError if there is no store
 * @throws StoreAwayError if the store cannot be used
 */
export async function openTerminalDesk(env: Environment, root: string): Promise<TerminalDesk> {
  const settings = readTerminalSettings(env);
  return { store: await openTerminalStore(settings), settings, env, root };
}

/** The server's settings that the command needs. The others can be invalid, which may be why it is needed. */
function readTerminalSettings(env: Environment) {
  const { DATA_DIR, SENTRY_ENVIRONMENT } = SETTINGS;
  const { DESK_DATABASE_URL, SOURCE_LINK, TRACE_LINK } = DESK_SETTINGS;
  const values = readSettings({ DATA_DIR, DESK_DATABASE_URL, SENTRY_ENVIRONMENT, SOURCE_LINK, TRACE_LINK }, env);
  return {
    dataDir: resolve(values.DATA_DIR),
    databaseUrl: values.DESK_DATABASE_URL || undefined,
    environment: values.SENTRY_ENVIRONMENT,
    links: { source: values.SOURCE_LINK, trace: values.TRACE_LINK },
  };
}

/** Opens the store that a server has created, even while that server runs. */
async function openTerminalStore({ dataDir, databaseUrl, environment }: TerminalSettings): Promise<Store> {
  const path = join(dataDir, SQLITE_FILE);
  if (databaseUrl === undefined && !existsSync(path)) {
    throw new TerminalError(
      `There is no desk in ${dataDir} (DATA_DIR) yet. The server creates it when it first starts. Start the server once, or set DATA_DIR to the server's value. With PostgreSQL, set DESK_DATABASE_URL.`,
    );
  }
  const driver = databaseUrl === undefined ? openMadeSqlite(path) : openPostgres(databaseUrl);
  try {
    const store = await openMadeStore(driver, { environment });
    if (store) return store;
    throw new TerminalError(
      `${NO_DESK} The server creates it when it first starts. Start the server once, or check that this is the right database.`,
    );
  } catch (error) {
    await driver.close(); // An open connection keeps the command running.
    throw error;
  }
}
