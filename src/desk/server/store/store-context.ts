import type { Sql, SqlDriver } from './sql.ts';

/** A receiver of notifications. The store has none of its secrets. */
export interface NotificationTarget {
  /** Stays the same on all replicas and after a restart. */
  readonly id: string;
  /** For example `Webhook hooks.example.com`. */
  readonly name: string;
}

/** When notifications of new incidents are sent, and to whom. */
export interface NotificationRules {
  /** A new incident is announced when it has happened this often. */
  readonly after: number;
  /** Without targets, incidents still count as announced, so that a target that is added later gets only newer ones. */
  readonly targets: readonly NotificationTarget[];
}

/** What the tables of the store share. */
export interface StoreContext {
  readonly driver: SqlDriver;
  /** `driver.reader`. */
  readonly reader: Sql;
  /** `SENTRY_ENVIRONMENT` of this process. */
  readonly environment: string;
  readonly rules: NotificationRules;
}
