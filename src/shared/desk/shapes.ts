/**
 * Data from the desk's presenters for its pages: plain JSON, cut and scrubbed. Times are milliseconds since 1970. Each
 * page has `now`, the base of relative times, so that server and browser render the same.
 */

export type IncidentKind =
  | 'exception'
  | 'hydration'
  | 'load'
  | 'network'
  | 'timeout'
  | 'script-error'
  | 'unclean-death'
  | 'blocked-loop'
  | 'csp'
  | 'crash'
  | 'deprecation'
  | 'intervention';

export type IncidentState = 'open' | 'resolved' | 'ignored';
export type Side = 'server' | 'browser';

/** The user of the desk. */
interface OperatorShape {
  readonly name: string;
  /** False for viewers, who see no forms. */
  readonly canChange: boolean;
}

/** State of an incident, and what changes it automatically. */
export interface StatusShape {
  readonly state: IncidentState;
  /** Open because it happened again after it was resolved. */
  readonly isRegression?: boolean;
  /** Resolved in the next release: it can still happen in the current one. */
  readonly isForNext?: boolean;
  readonly ignoredUntil?: number;
  /** Ignored until it happens this many more times within an hour. */
  readonly ignoredUntilMore?: number;
  readonly changedAt?: number;
  /** Name of the operator or rule that set the state. */
  readonly changedBy?: string;
}

/** Location of a failure in the app. */
export interface PlaceShape {
  /** The pattern of the route: `/orders/:id`. */
  readonly route?: string;
  /** Relative to the project: `src/server/product/pages/cart.ts`. */
  readonly file?: string;
  readonly line?: number;
  readonly function?: string;
}

export interface SideCounts {
  readonly server: number;
  readonly browser: number;
}

/** Counts over time. */
export interface ChartShape {
  /** Start of the first bar. */
  readonly start: number;
  /** Duration of one bar (ms). */
  readonly step: number;
  /** Oldest first. */
  readonly counts: readonly number[];
}

/** A release that was first seen within the chart. */
export interface MarkShape {
  readonly at: number;
  readonly release: string;
}

/** A row of the list. */
export interface IncidentRow {
  readonly digest: string;
  readonly environment: string;
  readonly kind: IncidentKind;
  readonly title: string;
  readonly place: PlaceShape;
  readonly status: StatusShape;
  readonly counts: SideCounts;
  /** Affected visitors, each counted once per day; undefined if unknown. */
  readonly visitors?: number;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly firstRelease: string;
  readonly lastRelease: string;
  readonly chart: ChartShape;
}

export type SortName = 'last' | 'first' | 'count' | 'visitors';
export type SpanName = '24h' | '14d';

/** The requested view of the list, from the URL. An empty string filters nothing. */
export interface ViewShape {
  readonly state: IncidentState | 'all';
  readonly sort: SortName;
  /** Time span of the charts. */
  readonly span: SpanName;
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
  readonly operator: OperatorShape;
  readonly view: ViewShape;
  readonly rows: readonly IncidentRow[];
  /** Counts per tab; undefined if not counted. */
  readonly totals: Readonly<Partial<Record<IncidentState, number>>>;
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

/** Source text, plain or highlighted. */
export type SpanShape = string | readonly [kind: 'comment' | 'string' | 'keyword' | 'literal' | 'tag', text: string];

export interface FrameShape {
  readonly file: string;
  /** Counted from 1; 0 if unknown. */
  readonly line: number;
  readonly column: number;
  readonly function: string;
  /** Whether the frame is in the app or in Spillway. */
  readonly isOwn: boolean;
  readonly isEngine: boolean;
  readonly isAsync: boolean;
  /** Opens the location in an editor or a repository. */
  readonly link?: string;
  readonly source?: { readonly start: number; readonly lines: readonly (readonly SpanShape[])[] };
}

export interface ErrorShape {
  readonly class: string;
  readonly message: string;
  readonly code?: string;
  /** Classes of an `AggregateError`'s errors. */
  readonly members: readonly string[];
  readonly frames: readonly FrameShape[];
}

export interface RequestShape {
  readonly method: string;
  readonly url: string;
  readonly referrer?: string;
  readonly agent?: { readonly words: string; readonly raw: string };
  /** The other headers. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

export interface BreadcrumbShape {
  readonly at: number;
  readonly category: string;
  readonly message: string;
  readonly level: 'debug' | 'info' | 'warning' | 'error';
  readonly data: readonly (readonly [name: string, value: string])[];
}

export interface ComponentShape {
  readonly name: string;
  /** File and line; empty for an element. */
  readonly place: string;
  /** A component of the app, not of the engine. */
  readonly isOwn: boolean;
}

/** Details that only some kinds have. */
export type StoryShape =
  | {
      readonly kind: 'hydration';
      /** React's message, if the browser sent it. */
      readonly said: string;
      /** An explanation, if React only gave a number. */
      readonly meaning: string;
    }
  | {
      readonly kind: 'unclean-death';
      readonly startedAt?: number;
      readonly lastHeardAt: number;
      /** Resident memory at the last heartbeat (bytes). */
      readonly memory?: number;
      /** How long its main thread had been blocked (ms). */
      readonly blockedFor?: number;
      readonly inFlight: readonly InFlightShape[];
    }
  | { readonly kind: 'blocked-loop'; readonly ms: number; readonly since?: number }
  | { readonly kind: 'report'; readonly facts: readonly (readonly [name: string, value: string])[] };

export interface InFlightShape {
  readonly requestId: string;
  readonly method: string;
  readonly route: string;
  /** Duration so far (ms). */
  readonly ms: number;
}

/** One occurrence of an incident. */
export interface OccurrenceShape {
  readonly occurrence: string;
  readonly at: number;
  readonly side: Side;
  readonly release: string;
  readonly build: string;
  readonly route?: string;
  readonly requestId?: string;
  readonly visitor?: string;
  /** Undefined if the occurrence was sampled out: only the fields above are stored. */
  readonly full?: FullShape;
}

export interface FullShape {
  /** What was running: `while a loader ran`. */
  readonly origin: string;
  readonly level: 'error' | 'warning';
  readonly traceId?: string;
  /** Opens the trace in a tracing tool. */
  readonly traceLink?: string;
  readonly spanId?: string;
  /** Outermost first. */
  readonly errors: readonly ErrorShape[];
  /** The errors as text, for copying. */
  readonly stackText: string;
  readonly story?: StoryShape;
  readonly request?: RequestShape;
  /** Undefined if no test can repeat the failure. */
  readonly test?: TestShape;
  readonly components: readonly ComponentShape[];
  readonly breadcrumbs: readonly BreadcrumbShape[];
  readonly tags: readonly (readonly [name: string, value: string])[];
  readonly extra: readonly (readonly [name: string, value: string])[];
  /** Names of the fields that were cut to fit the limits. */
  readonly cut: readonly string[];
}

/** The latest commit that changed a line of the failure, if it is new in the release in which the failure began. */
export interface CommitShape {
  readonly hash: string;
  readonly author: string;
  readonly at: number;
  readonly subject: string;
  /** The line. */
  readonly file: string;
  readonly line: number;
}

/** A test that fails as an occurrence did. */
export interface TestShape {
  /** Its path in the project. */
  readonly file: string;
  readonly text: string;
  /** Sentences about parts that were not recorded. */
  readonly missing: readonly string[];
}

export interface ReleaseShape {
  readonly release: string;
  readonly build: string;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly count: number;
  /** The incident happened again in this release after it was resolved. */
  readonly isRegression: boolean;
}

export interface SimilarShape {
  readonly digest: string;
  readonly kind: IncidentKind;
  readonly title: string;
  readonly state: IncidentState;
  readonly lastAt: number;
  readonly count: number;
  readonly because: 'file' | 'message';
}

/** A note, or a change of the incident. */
export interface ChangeShape {
  readonly id: string;
  readonly at: number;
  /** Name of a token, or `desk` for automatic changes. */
  readonly by: string;
  /** A sentence without a subject: `resolved it in the next release`. */
  readonly words: string;
  /** Set for a note. */
  readonly note?: { readonly id: number; readonly text: string };
}

/**
 * An occurrence that is not stored in full: `summary` if only its row is stored, `sampled` if it is probably one of those
 * that were only counted, `arriving` if it is perhaps not stored yet, `unknown` if it never existed or was deleted.
 */
export interface MissedShape {
  readonly occurrence: string;
  readonly state: 'summary' | 'sampled' | 'arriving' | 'unknown';
  readonly at?: number;
  readonly requestId?: string;
}

export interface IncidentData {
  readonly now: number;
  readonly operator: OperatorShape;
  readonly digest: string;
  readonly environment: string;
  /** The environment in URLs: empty for this server's. */
  readonly scope: string;
  /** Other environments with the same digest. */
  readonly elsewhere: readonly string[];
  readonly kind: IncidentKind;
  readonly title: string;
  /** The full message of the outermost error. */
  readonly message: string;
  readonly place: PlaceShape;
  readonly status: StatusShape;
  readonly commit?: CommitShape;
  /** Opens a new issue about it in an issue tracker. */
  readonly issueLink?: string;
  /** Version of the incident. Forms send it back, so that concurrent changes are detected. */
  readonly version: string;
  readonly counts: SideCounts;
  readonly visitors?: number;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly day: ChartShape;
  readonly fortnight: ChartShape;
  /** Releases for both charts, oldest first. */
  readonly marks: readonly MarkShape[];
  readonly releases: readonly ReleaseShape[];
  /** The occurrence that is shown; undefined if none is stored. */
  readonly shown?: OccurrenceShape;
  /** The occurrence in the URL, if it is not stored in full and another one is shown. */
  readonly missed?: MissedShape;
  /** The next and previous occurrence in time. */
  readonly newer?: string;
  readonly older?: string;
  /** The latest occurrences. */
  readonly recent: readonly Pick<OccurrenceShape, 'occurrence' | 'at' | 'side' | 'release'>[];
  readonly similar: readonly SimilarShape[];
  readonly changes: readonly ChangeShape[];
}

/** A notification. */
export interface NotificationShape {
  readonly id: number;
  /** `New`, `Regression`, `Frequent`, `Test` */
  readonly label: string;
  readonly digest?: string;
  /** Environment of the incident, until the incident is deleted. */
  readonly environment?: string;
  readonly title?: string;
  readonly state: 'waiting' | 'sent' | 'failed' | 'dropped';
  /** When it was sent or given up; while it waits, when it was created. */
  readonly at: number;
  /** Next attempt, while it waits. */
  readonly dueAt?: number;
  readonly tries: number;
  /** Result of the last attempt, as a sentence. */
  readonly outcome: string;
  /** `Webhook hooks.example.com` */
  readonly target: string;
}

export interface NotificationsData {
  readonly now: number;
  readonly operator: OperatorShape;
  /** This server's environment. */
  readonly environment: string;
  /** Names without secrets. */
  readonly targets: readonly string[];
  readonly settings: readonly (readonly [name: string, words: string])[];
  /** Next due first. */
  readonly waiting: readonly NotificationShape[];
  /** Latest first. */
  readonly done: readonly NotificationShape[];
}
