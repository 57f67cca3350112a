import type { SORTS } from './choices.ts';
import type { IncidentKind, IncidentRow, IncidentShape, IncidentState, Side } from './shapes.ts';

// The data of the desk's pages. Each page has `now`, the base of relative times, so that server and browser render the
// same. `canChange` is false for viewers, who see no forms. Times are milliseconds since 1970.

export type SortName = (typeof SORTS)[number][0];

/** The requested view of the list, from the URL. An empty string filters nothing. */
export interface ViewShape {
  readonly state: IncidentState | 'all';
  readonly sort: SortName;
  readonly search: string;
  readonly side: Side | '';
  readonly kind: IncidentKind | '';
  readonly route: string;
  readonly release: string;
  /** Empty for this server's environment. */
  readonly environment: string;
  /** Last seen within: `1h`, `24h`, `7d`, `30d`. */
  readonly within: string;
}

export interface IncidentsData {
  readonly now: number;
  readonly canChange: boolean;
  readonly view: ViewShape;
  readonly rows: readonly IncidentRow[];
  /** Counts per tab. */
  readonly totals: Readonly<Record<IncidentState, number>>;
  /** Options of the filters. */
  readonly choices: {
    readonly routes: readonly string[];
    readonly releases: readonly string[];
  };
  /** Cursor of the next page. */
  readonly next?: string;
  /** Cursor of this page; absent on the first. */
  readonly cursor?: string;
  /** Whether nothing was ever stored. */
  readonly isNew: boolean;
}

export interface IncidentData extends IncidentShape {
  readonly now: number;
  readonly canChange: boolean;
  /** The environment in URLs: empty for this server's. */
  readonly scope: string;
}

/** A notification that waits or was sent. */
export interface NotificationShape {
  readonly id: number;
  /** `Webhook hooks.example.com` */
  readonly targetName: string;
  /** `New`, `Regression`, `Frequent` */
  readonly label: string;
  readonly digest: string;
  /** Environment of the incident in URLs: empty for this server's. */
  readonly scope: string;
  /** Absent if the incident was deleted. */
  readonly title?: string;
  readonly createdAt: number;
  readonly state: 'waiting' | 'sent' | 'failed';
  /** When the next attempt is due. */
  readonly dueAt: number;
  readonly triedAt?: number;
  readonly attempts: number;
  /** Result of the last attempt, as a sentence. */
  readonly result: string;
}

export interface NotificationsData {
  readonly now: number;
  readonly canChange: boolean;
  /** Names without secrets. */
  readonly targets: readonly string[];
  /** Latest first. */
  readonly notifications: readonly NotificationShape[];
}
