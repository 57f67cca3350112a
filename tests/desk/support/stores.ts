import { describe, onTestFinished } from 'vitest';
import { toSummary } from '../../../src/desk/server/ingest/journal-entry.ts';
import { type NewOccurrence, toNewOccurrence } from '../../../src/desk/server/store/ingest/batch.ts';
import { openPostgres } from '../../../src/desk/server/store/postgres.ts';
import type { RetentionLimits, RetentionReport } from '../../../src/desk/server/store/retention.ts';
import type { SqlDriver } from '../../../src/desk/server/store/sql.ts';
import { openSqlite } from '../../../src/desk/server/store/sqlite.ts';
import { openStore, type Store } from '../../../src/desk/server/store/store.ts';
import type { NotificationRules } from '../../../src/desk/server/store/store-context.ts';
import type { Failure } from '../../../src/server/errors/failure.ts';
import { Hour } from '../../../src/shared/units.ts';
import { createPostgresDatabase } from '../../support/postgres.ts';
import { createTestLog } from '../../support/test-log.ts';
import { createFailure, TEST_RETENTION } from './desk.ts';

/** Opens a store and its driver, which are removed at the end of the test. */
export type OpenTestStore = (rules?: NotificationRules) => Promise<{ store: Store; driver: SqlDriver }>;

/** Runs the same tests on a store in SQLite and one in PostgreSQL. */
export function describeStores(what: string, say: (open: OpenTestStore) => void): void {
  const drivers: Record<string, () => Promise<SqlDriver> | SqlDriver> = {
    SQLite: () => openSqlite(':memory:', { log: createTestLog().log }),
    PostgreSQL: async () => openPostgres(await createPostgresDatabase()),
  };
  describe.each(Object.entries(drivers))(`${what} in %s`, (_name, openDriver) => {
    say(async (rules) => {
      const driver = await openDriver();
      const store = await openStore(driver, { environment: 'production', ...(rules && { rules }) });
      onTestFinished(() => store.close());
      return { store, driver };
    });
  });
}

/** Opens a store in memory, which is closed at the end of the test. */
export async function useMemoryStore(options: Partial<Parameters<typeof openStore>[1]> = {}) {
  const driver = openSqlite(':memory:', createTestLog());
  const store = await openStore(driver, { environment: 'production', ...options });
  onTestFinished(() => store.close());
  return { store, driver };
}

/** A full event to ingest. */
export function fullOf(wanted: Partial<Failure> = {}): NewOccurrence & { readonly full: Failure } {
  return toNewOccurrence(createFailure(wanted));
}

export function summaryOf(wanted: Partial<Failure> = {}): NewOccurrence {
  return toSummary(createFailure(wanted));
}

export function ingest(store: Store, ...occurrences: NewOccurrence[]): Promise<void> {
  return store.journals.ingest({ occurrences });
}

/** Runs retention, as a server does every hour. */
export function retain(
  store: Store,
  { build = 'build-1', ...limits }: Partial<RetentionLimits> & { readonly build?: string } = {},
): Promise<RetentionReport> {
  return store.retain(build, { ...TEST_RETENTION, ...limits });
}

/** The start of the current hour, so that test data for one hour is not split at its end. */
export const thisHour = Math.floor(Date.now() / Hour) * Hour;
