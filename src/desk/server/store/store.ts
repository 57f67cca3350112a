import { join } from 'node:path';
import { SQLITE_FILE } from '../data-files.ts';
import type { DeskLog } from '../desk-log.ts';
import { createAliasTable } from './alias-table.ts';
import { createBuildTable } from './build-table.ts';
import { createIncidentChanges } from './change-incident.ts';
import { createIncidentFinder } from './find-incident.ts';
import { createHistoryTable } from './history-table.ts';
import { createIncidentDetails } from './incident-details.ts';
import { createIncidentTable } from './incident-table.ts';
import { createJournalTable } from './ingest/ingest-batch.ts';
import { createIncidentList } from './list-incidents.ts';
import { createNotificationTable } from './notification-table.ts';
import { createOccurrenceTable } from './occurrence-table.ts';
import { createProcessTable } from './process-table.ts';
import { type RetentionLimits, type RetentionReport, retain } from './retention.ts';
import { createRevalidationTable } from './revalidation-table.ts';
import { migrate, SCHEMA_VERSION } from './schema.ts';
import { createSessionTable } from './session-table.ts';
import { hasTable, readMeta, readNumber, type SqlDriver, StoreAwayError } from './sql.ts';
import { openSqlite } from './sqlite.ts';
import type { NotificationRules, StoreContext } from './store-context.ts';
import { createVisitorTable } from './visitor-table.ts';

/**
 * The database of incidents. SQLite and PostgreSQL share one set of statements and one contract test. Each method rejects
 * with a `StoreAwayError` if the database cannot be used at the moment, and with a `QueryFailedError` if only this query
 * failed.
 */
export type Store = ReturnType<typeof createStore>;

interface StoreOptions {
  /** `SENTRY_ENVIRONMENT` of the process. */
  readonly environment: string;
  /** No notifications by default. */
  readonly rules?: NotificationRules | undefined;
}

const NO_NOTIFICATIONS: NotificationRules = { after: 1, targets: [] };

/**
 * @param databaseUrl the URL of PostgreSQL. Undefined for SQLite in `dataDir`
 * @throws StoreAwayError if the file can be neither opened nor created
 */
export async function openDriver(options: {
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  readonly log: DeskLog;
}): Promise<SqlDriver> {
  const { dataDir, databaseUrl, log } = options;
  if (databaseUrl === undefined) return openSqlite(join(dataDir, SQLITE_FILE), { log });
  const { openPostgres } = await import('./postgres.ts'); // its client takes memory
  return openPostgres(databaseUrl);
}

/** Creates or upgrades the schema. @throws StoreAwayError */
export async function openStore(driver: SqlDriver, options: StoreOptions): Promise<Store> {
  try {
    await migrate(driver);
    return createStore(driver, options);
  } catch (error) {
    await driver.close();
    throw error;
  }
}

/** Opens a store that a server has created, without changing it. @returns undefined if the database has none */
export async function openMadeStore(driver: SqlDriver, options: StoreOptions): Promise<Store | undefined> {
  if (!(await hasTable(driver, 'desk_meta'))) return undefined;
  const { schema } = await readMeta(driver);
  return Number(schema) === SCHEMA_VERSION ? createStore(driver, options) : openStore(driver, options);
}

function createStore(driver: SqlDriver, { environment, rules = NO_NOTIFICATIONS }: StoreOptions) {
  const { reader } = driver;
  const context: StoreContext = { driver, reader, environment, rules };
  const builds = createBuildTable(context);
  const history = createHistoryTable(context);
  const incidents = createIncidentTable(context);
  const occurrences = createOccurrenceTable(context);
  return {
    incidents,
    occurrences,
    history,
    builds,
    details: createIncidentDetails(context, { builds, history, incidents, occurrences }),
    list: createIncidentList(context),
    finder: createIncidentFinder(context),
    changes: createIncidentChanges(context),
    aliases: createAliasTable(context),
    journals: createJournalTable(context),
    notifications: createNotificationTable(context),
    processes: createProcessTable(context),
    revalidations: createRevalidationTable(context),
    sessions: createSessionTable(context),
    visitors: createVisitorTable(context),
    /** Whether other replicas can write to it too. */
    isShared: driver.isShared,
    /** Returns a number that grows with each change of what the desk's pages show, on any replica. */
    readChanges: (): Promise<number> =>
      readNumber(reader, "SELECT CAST(value AS BIGINT) AS value FROM desk_meta WHERE name = 'changes'"),
    /**
     * Deletes old rows, and the oldest rows of a store that is too large.
     *
     * @param build the running one, whose files are never deleted
     */
    retain: (build: string, limits: RetentionLimits): Promise<RetentionReport> => retain(driver, build, limits),
    /** Checks that the database can be written to. @throws StoreAwayError */
    check: () => check(driver),
    close: () => driver.close(),
  };
}

async function check(driver: SqlDriver): Promise<void> {
  await driver.check();
  if (!(await hasTable(driver, 'desk_meta'))) {
    throw new StoreAwayError("The desk's tables were deleted while the database was open.", { isGone: true });
  }
  // Writes, because reads still work when the disk is full, and in a transaction, which a pooler can refuse.
  await driver.transaction((sql) => sql.run("UPDATE desk_meta SET value = value WHERE name = 'schema'"));
}
