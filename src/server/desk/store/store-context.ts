import type { NotificationRules } from './notifications/notification-rules.ts';
import type { Sql, SqlDriver } from './sql.ts';

/**
 * What each query of the store gets before its own arguments. A query is a function of a table module,
 * exported there in `queries` or `changes`, and `store.ts` lists these objects.
 */
export interface StoreContext {
  readonly driver: SqlDriver;
  /** `driver.reader` and `driver.quick`. */
  readonly reader: Sql;
  readonly quick: Sql;
  /** `SENTRY_ENVIRONMENT` of this process. */
  readonly environment: string;
  /** The environment whose incidents have plain digests (`incident-key.ts`). */
  readonly home: string;
  readonly news: NotificationRules;
}
