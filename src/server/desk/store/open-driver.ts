import { join } from 'node:path';
import type { DeskLog } from '../desk-log.ts';
import { openPostgres } from './postgres.ts';
import type { SqlDriver } from './sql.ts';
import { openSqlite } from './sqlite.ts';

interface DriverOptions {
  readonly dataDir: string;
  /** PostgreSQL's; undefined for the file in `dataDir`. */
  readonly databaseUrl: string | undefined;
  readonly log: DeskLog;
}

/** @throws StoreAwayError where the file can be neither opened nor made */
export function openDriver({ dataDir, databaseUrl, log }: DriverOptions): SqlDriver {
  if (databaseUrl !== undefined) return openPostgres(databaseUrl, { log });
  return openSqlite(join(dataDir, 'desk.sqlite'), { log });
}
