import { join } from 'node:path';
import type { DeskLog } from '../desk-log.ts';
import type { SqlDriver } from './sql.ts';
import { openSqlite } from './sqlite.ts';

export interface DriverOptions {
  readonly dataDir: string;
  /** PostgreSQL's; undefined for the file in `dataDir`. */
  readonly databaseUrl: string | undefined;
  readonly log: DeskLog;
}

/** @throws StoreAwayError where the database cannot be opened */
export async function openDriver({ dataDir, databaseUrl, log }: DriverOptions): Promise<SqlDriver> {
  if (databaseUrl !== undefined) throw new Error('PostgreSQL');
  return openSqlite(join(dataDir, 'desk.sqlite'), { log });
}
