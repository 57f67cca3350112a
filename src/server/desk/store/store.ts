import type { DeskLog } from '../desk-log.ts';
import type { CallKey } from './incident-key.ts';
import * as changeFeed from './incidents/change-feed.ts';
import * as changeIncident from './incidents/change-incident.ts';
import * as changeLog from './incidents/change-log.ts';
import * as forget from './incidents/delete-incident.ts';
import * as listIncidents from './incidents/list-incidents.ts';
import * as lookUp from './incidents/look-up.ts';
import * as merge from './incidents/merge.ts';
import * as notes from './incidents/note-table.ts';
import { prepareSearch } from './incidents/search-table.ts';
import * as ingest from './ingest/ingest-batch.ts';
import * as settleStates from './ingest/settle-states.ts';
import { hasSchema, migrate, readMeta, SCHEMA_VERSION } from './migrations.ts';
import * as claims from './notifications/claim-notification.ts';
import type { NotificationRules } from './notifications/notification-rules.ts';
import * as notifications from './notifications/notification-table.ts';
import * as days from './notifications/queue-daily.ts';
import * as echoes from './occurrences/echo-table.ts';
import * as feedback from './occurrences/feedback-table.ts';
import * as occurrences from './occurrences/occurrence-table.ts';
import * as retention from './retention/retention.ts';
import * as builds from './servers/build-table.ts';
import * as environments from './servers/environment-table.ts';
import * as commits from './servers/find-commit.ts';
import * as runs from './servers/process-table.ts';
import * as routes from './servers/route-table.ts';
import * as sessions from './servers/session-table.ts';
import { QueryFailedError, type SqlDriver, StoreAwayError } from './sql.ts';
import type { StoreContext } from './store-context.ts';
import * as forgetVisitor from './visitors/forget-visitor.ts';
import * as secrets from './visitors/secret-table.ts';

/** The queries of the main thread, grouped by what the desk worker waits for before it answers. */
export const deskQueries = {
  /** Waits briefly until the failures in the journal of this process are stored. */
  journaled: {
    ...listIncidents.queries,
    ...lookUp.queries,
    ...occurrences.queries,
    ...feedback.queries,
    ...changeLog.queries,
    ...notes.queries,
    ...environments.queries,
    ...commits.queries,
  },
  /** Waits longer for the same, because these queries change incidents that such failures can belong to. */
  settled: {
    ...changeIncident.changes,
    ...merge.changes,
    ...forget.changes,
    ...feedback.changes,
    ...notes.changes,
  },
  nothing: {
    ...changeFeed.queries,
    ...sessions.queries,
    ...builds.queries,
    ...runs.queries,
    ...notifications.queries,
    ...secrets.queries,
    ...routes.queries,
  },
};

/** The queries of the desk worker and the terminal. */
const ownQueries = {
  ...lookUp.lookUps,
  ...echoes.queries,
  ...ingest.queries,
  ...claims.queries,
  ...days.queries,
  ...settleStates.queries,
  ...forgetVisitor.queries,
  ...retention.queries,
};

type Query = (context: StoreContext, ...args: never[]) => unknown;

/** Queries without their first argument. */
export type BoundQueries<Queries> = {
  readonly [Name in keyof Queries]: Queries[Name] extends (context: StoreContext, ...args: infer Args) => infer Answer
    ? (...args: Args) => Answer
    : never;
};

type DeskQueries = BoundQueries<
  (typeof deskQueries)['journaled'] & (typeof deskQueries)['settled'] & (typeof deskQueries)['nothing']
>;

/** Queries that also accept a plain digest, which the store takes as one of the home environment. */
type WithPlainDigests<Queries> = {
  readonly [Name in keyof Queries]: Queries[Name] extends (...args: infer Args) => infer Answer
    ? (...args: { [Index in keyof Args]: Args[Index] extends CallKey ? string : Args[Index] }) => Answer
    : never;
};

/**
 * The database of incidents. SQLite and PostgreSQL share one set of statements and one contract test. Each
 * method rejects with a `StoreAwayError` if the database cannot be used at the moment, and with a
 * `QueryFailedError` if only this query failed.
 */
export interface Store extends WithPlainDigests<DeskQueries & BoundQueries<typeof ownQueries>> {
  /** Whether other replicas can write to it too. */
  readonly isShared: boolean;
  readMeta(): Promise<Readonly<Record<string, string>>>;
  usedBytes(): Promise<number>;
  /** Checks that the database can be written to. @throws StoreAwayError */
  check(): Promise<void>;
  close(): Promise<void>;
}

export interface StoreOptions {
  /** The version of the digest rule, which the store records. */
  readonly rule: number;
  /** `SENTRY_ENVIRONMENT` of the process. */
  readonly environment: string;
  /** Gets warnings about features that the database does not allow. The desk works without them. */
  readonly log?: DeskLog;
  /** No notifications by default. */
  readonly news?: NotificationRules;
}

const TOLD_TO_NOBODY: NotificationRules = { after: [{ count: 1 }], targets: [] };

/** @throws StoreAwayError */
export async function openStore(driver: SqlDriver, { rule, environment, log, news }: StoreOptions): Promise<Store> {
  try {
    await migrate(driver, { rule, environment });
    await prepareSearch(driver, log);
    return await createStore(driver, { environment, news });
  } catch (error) {
    await driver.close();
    throw error;
  }
}

/**
 * Opens a store that a server has created. Writes only if the schema is older.
 *
 * @returns undefined if the database has no desk
 * @throws StoreAwayError
 */
export async function openMadeStore(driver: SqlDriver, options: StoreOptions): Promise<Store | undefined> {
  if (!(await hasSchema(driver))) return undefined;
  const { schema } = await readMeta(driver);
  return Number(schema) === SCHEMA_VERSION ? createStore(driver, options) : openStore(driver, options);
}

async function createStore(
  driver: SqlDriver,
  { environment, news = TOLD_TO_NOBODY }: Pick<StoreOptions, 'environment' | 'news'>,
): Promise<Store> {
  const { reader, quick } = driver;
  const { home } = await environments.readEnvironments(driver);
  const context = { driver, reader, quick, environment, home, news };
  const { journaled, settled, nothing } = deskQueries;
  return {
    ...bind({ ...journaled, ...settled, ...nothing, ...ownQueries }, context),
    isShared: driver.isShared,
    readMeta: () => readMeta(reader),
    usedBytes: () => driver.usedBytes(),
    check: () => check(driver),
    close: () => driver.close(),
  };
}

function bind<Queries extends Record<string, Query>>(queries: Queries, context: StoreContext) {
  const bound = Object.entries(queries).map(([name, query]) => [name, query.bind(undefined, context)]);
  // The names of the queries are unchanged.
  return Object.fromEntries(bound) as WithPlainDigests<BoundQueries<Queries>>;
}

async function check(driver: SqlDriver): Promise<void> {
  await driver.check();
  // Writes, because reads still work when the disk is full.
  const kept = await driver.quick
    .run("UPDATE desk_meta SET value = value WHERE name = 'schema'")
    .catch((error: unknown) => {
      if (error instanceof QueryFailedError && error.isTableMissing) return 0;
      throw error;
    });
  if (kept === 0) {
    throw new StoreAwayError("The desk's tables were deleted while the database was open.", { isGone: true });
  }
}
