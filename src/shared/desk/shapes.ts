/**
 * What crosses from the desk's presenters to its pages: plain JSON, cut and scrubbed. Times are
 * milliseconds since 1970. Each page has `now`, from which relative times are told, so that server and
 * browser say the same.
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

/** Whoever looks at the desk. */
export interface OperatorShape {
  readonly name: string;
  /** False for viewers, who are shown no forms. */
  readonly canChange: boolean;
}

/** Failures that are recorded and not in the store yet. */
export interface ArrivingShape {
  /** Of the process that answers. */
  readonly count: number;
  /** Processes that ended left more. */
  readonly hasMore: boolean;
}

/** How an incident stands, and what would change it by itself. */
export interface StatusShape {
  readonly state: IncidentState;
  /** Open because it came back after it was resolved. */
  readonly isRegression?: boolean;
  /** Resolved in the next release: what runs by now may still bring it. */
  readonly isForNext?: boolean;
  readonly ignoredUntil?: number;
  /** Ignored until it happens this often more within an hour. */
  readonly ignoredUntilMore?: number;
  readonly changedAt?: number;
  /** The name of the operator, or of the rule, that made it so. */
  readonly changedBy?: string;
}

/** Where in the application something fails. */
export interface PlaceShape {
  /** The pattern of the route: `/orders/:id`. */
  readonly route?: string;
  /** Of the project's root: `src/server/product/pages/cart.ts`. */
  readonly file?: string;
  readonly line?: number;
  readonly function?: string;
}

export interface SideCounts {
  readonly server: number;
  readonly browser: number;
}

/** How often, over time. */
export interface ChartShape {
  /** The beginning of the first bar. */
  readonly start: number;
  /** What one bar stands for (ms). */
  readonly step: number;
  /** Oldest first. */
  readonly counts: readonly number[];
}

/** A release that was first seen within a chart. */
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
  /** Visitors touched, a day's each; undefined where none was told apart. */
  readonly visitors?: number;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly firstRelease: string;
  readonly lastRelease: string;
  readonly assignee?: string;
  readonly chart: ChartShape;
}

export type SortName = 'last' | 'first' | 'count' | 'visitors';
export type SpanName = '24h' | '14d';

/** What of the list is asked for: as it stands in the address. An empty text filters nothing. */
export interface ViewShape {
  readonly state: IncidentState | 'all';
  readonly sort: SortName;
  /** Of the charts. */
  readonly span: SpanName;
  readonly search: string;
  readonly side: Side | '';
  readonly kind: IncidentKind | '';
  readonly route: string;
  readonly release: string;
  /** Empty for the environment of this server. */
  readonly environment: string;
  readonly assignee: string;
  /** Seen within: `1h`, `24h`, `7d`, `30d`. */
  readonly within: string;
}

export interface IncidentsData {
  readonly now: number;
  readonly operator: OperatorShape;
  readonly view: ViewShape;
  readonly rows: readonly IncidentRow[];
  /** Of each tab, undefined where it was not counted. */
  readonly totals: Readonly<Partial<Record<IncidentState, number>>>;
  /** What the filters offer. */
  readonly choices: {
    readonly routes: readonly string[];
    readonly releases: readonly string[];
    readonly assignees: readonly string[];
  };
  /** Where the next page begins. */
  readonly next?: string;
  /** Where this page begins; absent on the first. */
  readonly cursor?: string;
  /** Nothing was ever stored. */
  readonly isNew: boolean;
}

/** Text, or text with a colour. */
export type SpanShape = string | readonly [kind: 'comment' | 'string' | 'keyword' | 'literal' | 'tag', text: string];

export interface FrameShape {
  readonly file: string;
  /** From 1; 0 where it is not known. */
  readonly line: number;
  readonly column: number;
  readonly function: string;
  /** Of the application, or of the engine that it is built on. */
  readonly isOwn: boolean;
  readonly isEngine: boolean;
  readonly isAsync: boolean;
  /** Opens the place in an editor or a repository. */
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
  /** All others. */
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
  /** One of the application's own, none of the engine's. */
  readonly isOwn: boolean;
}

/** What is told of a kind alone. */
export type StoryShape =
  | {
      readonly kind: 'hydration';
      /** React's own words, where the browser sent them. */
      readonly said: string;
      /** The same in a sentence, where React only gave a number. */
      readonly meaning: string;
    }
  | {
      readonly kind: 'unclean-death';
      readonly startedAt?: number;
      readonly lastHeardAt: number;
      /** Resident memory when it was last heard of (bytes). */
      readonly memory?: number;
      /** Its main thread had stood still for this long (ms). */
      readonly blockedFor?: number;
      readonly growth?: GrowthShape;
      readonly inFlight: readonly InFlightShape[];
    }
  | { readonly kind: 'blocked-loop'; readonly ms: number; readonly since?: number }
  | { readonly kind: 'report'; readonly facts: readonly (readonly [name: string, value: string])[] };

/** How the memory of a process was over its life (bytes). */
export interface GrowthShape {
  /** When the first step began, and how long each is (ms). */
  readonly at: number;
  readonly step: number;
  /** The most of each step, oldest first. */
  readonly memory: readonly number[];
  readonly heap: readonly number[];
  readonly heapLimit: number;
  /** What had grown at the end since the process had settled. */
  readonly where: 'heap' | 'outside' | 'nowhere';
  /** What it had settled at, and what it was at the end. */
  readonly from: MemoryShape;
  readonly to: MemoryShape;
  /** How long lay between them (ms). */
  readonly ms: number;
}

/** Bytes, both. */
export interface MemoryShape {
  readonly memory: number;
  readonly heap: number;
}

export interface InFlightShape {
  readonly requestId: string;
  readonly method: string;
  readonly route: string;
  /** How long it had been under way (ms). */
  readonly ms: number;
}

/** One time that it happened. */
export interface OccurrenceShape {
  readonly occurrence: string;
  readonly at: number;
  readonly side: Side;
  readonly release: string;
  readonly build: string;
  readonly route?: string;
  readonly requestId?: string;
  readonly visitor?: string;
  /** Undefined where no more than the above was kept. */
  readonly whole?: WholeShape;
}

export interface WholeShape {
  /** The way on which it failed, in words: `while a loader ran`. */
  readonly origin: string;
  readonly traceId?: string;
  readonly spanId?: string;
  /** Outermost first. */
  readonly errors: readonly ErrorShape[];
  /** The same as text, to be copied. */
  readonly stackText: string;
  readonly story?: StoryShape;
  readonly request?: RequestShape;
  readonly components: readonly ComponentShape[];
  readonly breadcrumbs: readonly BreadcrumbShape[];
  readonly tags: readonly (readonly [name: string, value: string])[];
  readonly extra: readonly (readonly [name: string, value: string])[];
  /** Names of what was cut to fit the limits. */
  readonly cut: readonly string[];
}

export interface ReleaseShape {
  readonly release: string;
  readonly build: string;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly count: number;
  /** It came back here after it was resolved. */
  readonly isRegression: boolean;
}

export interface FeedbackShape {
  readonly id: string;
  readonly at: number;
  readonly text: string;
  readonly name?: string;
  readonly email?: string;
  readonly url?: string;
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

/** A note, or a change of the incident: what operators did. */
export interface ChangeShape {
  readonly id: string;
  readonly at: number;
  /** The name of a token, or `desk` for what happened by itself. */
  readonly by: string;
  /** A sentence without its subject: `resolved it in the next release`. */
  readonly words: string;
  /** What was written, and how it is told apart, for a note. */
  readonly note?: { readonly id: number; readonly text: string };
}

/**
 * An occurrence of which not all was kept: `thin` where its row is there, `thinned` where it may be
 * among those that were only counted, `arriving` if it is perhaps not stored yet,
 * `unknown` where it never was or is gone.
 */
export interface MissedShape {
  readonly occurrence: string;
  readonly state: 'thin' | 'thinned' | 'arriving' | 'unknown';
  readonly at?: number;
  readonly requestId?: string;
}

export interface IncidentData {
  readonly now: number;
  readonly operator: OperatorShape;
  readonly digest: string;
  readonly environment: string;
  /** The environment as addresses name it: empty for that of this server. */
  readonly scope: string;
  /** Other environments in which the digest is known. */
  readonly elsewhere: readonly string[];
  readonly kind: IncidentKind;
  readonly title: string;
  /** Of the outermost error, whole. */
  readonly message: string;
  readonly place: PlaceShape;
  readonly status: StatusShape;
  /** Names the state of the incident: what is sent back, so that two who change it at once are told. */
  readonly version: string;
  readonly assignee?: string;
  /** Digests that were merged into it. */
  readonly merged: readonly string[];
  readonly counts: SideCounts;
  readonly visitors?: number;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly day: ChartShape;
  readonly fortnight: ChartShape;
  /** Of both charts, oldest first. */
  readonly marks: readonly MarkShape[];
  readonly releases: readonly ReleaseShape[];
  /** The one that is shown; undefined where none was kept. */
  readonly shown?: OccurrenceShape;
  /** The one in the address, where it was not kept whole and another one is shown in its place. */
  readonly missed?: MissedShape;
  /** Neighbours in time, by occurrence. */
  readonly newer?: string;
  readonly older?: string;
  /** The latest. */
  readonly recent: readonly Pick<OccurrenceShape, 'occurrence' | 'at' | 'side' | 'release'>[];
  readonly feedback: readonly FeedbackShape[];
  readonly similar: readonly SimilarShape[];
  readonly changes: readonly ChangeShape[];
}

/** A message to somebody who is told. */
export interface NoticeShape {
  readonly id: number;
  /** `New`, `Regression`, `Storm`, `Summary`, `Test` */
  readonly label: string;
  readonly digest?: string;
  /** Of the incident, as long as it is there. */
  readonly environment?: string;
  readonly title?: string;
  readonly state: 'waiting' | 'sent' | 'failed' | 'summed' | 'dropped';
  /** When it ended; of one that waits, when it was made. */
  readonly at: number;
  /** When one that waits is tried next. */
  readonly dueAt?: number;
  readonly tries: number;
  /** How the last try ended, in words. */
  readonly outcome: string;
  /** `Webhook hooks.example.com` */
  readonly target: string;
}

export interface NotificationsData {
  readonly now: number;
  readonly operator: OperatorShape;
  /** Of this server. */
  readonly environment: string;
  /** Names without what is secret in them. */
  readonly targets: readonly string[];
  readonly settings: readonly (readonly [name: string, words: string])[];
  /** The one that is due next first. */
  readonly waiting: readonly NoticeShape[];
  readonly waitingCount: number;
  /** The latest first. */
  readonly done: readonly NoticeShape[];
}
