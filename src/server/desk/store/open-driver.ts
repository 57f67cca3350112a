import { join } from 'node:path';
import type { DeskLog } from '../desk-log.ts';
import { openPostgres } from './postgres.ts';
import type { SqlDriver } from './sql.ts';
import { openSqlite } from './sqlite.ts';

interface DriverOptions {
  readonly dataDir: string;
  /** The URL of PostgreSQL. Undefined for SQLite in `dataDir`. */
  readonly databaseUrl: string | undefined;
  readonly log: DeskLog;
}

/** @throws StoreAwayError if the file can be neither opened nor created */
export function openDriver({ dataDir, databaseUrl, log }: DriverOptions): SqlDriver {
  if (databaseUrl !== undefined) return openPostgres(databaseUrl, { log });
  return openSqlite(join(dataDir, 'desk.sqlite'), { log });
}
