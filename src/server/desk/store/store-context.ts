import type { NotificationRules } from './notifications/notification-rules.ts';
import type { Sql, SqlDriver } from './sql.ts';

/**
 * The first argument of each query of the store. Table modules export their queries in `queries` or
 * `changes`, and `store.ts` lists these objects.
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
