import type { PageError, ReportedAddress } from '../wire/payload.ts';
import type { FailureKind } from '../words.ts';

/**
 * How failures get from a page to the tunnel. A small script at the start of the document collects them from the first
 * byte (`client/hydration/early-errors.ts`), and the engine adds those of React and the router (`reporting.ts`).
 * Two chunks load when the browser is idle, or at the first failure: one decides what to report (`deliver-reports.ts`),
 * the other is the SDK, which sends it (`client/reporting/sentry.ts`).
 */

/** Settings for reporting from a browser, in each document's first script. They are constant per server. */
export interface BrowserReporting {
  /** Path to which envelopes are posted: `/_report`. */
  readonly tunnel: string;
  /** The DSN of an upstream. Without one, reports go only to Spillway, as `https://spillway@<host>/1`. */
  readonly dsn?: string;
  readonly build: string;
  readonly release?: string;
  readonly environment?: string;
}

/** The kinds that the code of a page recognizes itself. */
export type BrowserFailureKind = Extract<FailureKind, 'hydration' | 'load' | 'network'>;

/** The options of a report. */
export interface ReportOptions {
  /** By default `error`. */
  readonly level?: 'error' | 'warning';
  /** Short facts to search by: at most 20, with names and values of at most 64 bytes. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Other data, as plain JSON. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** One failure in the browser, on its way to the SDK. */
export interface BrowserReport extends ReportOptions {
  /** Time of the failure (ms since 1970). */
  readonly at: number;
  /** An error, or any other thrown value. */
  readonly thrown: unknown;
  /** The source, named like Sentry's mechanisms: `onerror`, `onunhandledrejection`, `react.caught`. */
  readonly via: string;
  readonly kind?: BrowserFailureKind | undefined;
  /** Location of a thrown value without a stack: `https://example.com/assets/home-X7K2.js:1:2048`. */
  readonly location?: string;
  /** The address of the server's failure that the page shows. */
  readonly echo?: string;
  /** From React: the surrounding components, innermost first. */
  readonly componentStack?: string | null;
  /** React's message, if it is not the error's own. */
  readonly said?: string;
  /** URL of the page, without its search. */
  readonly url: string;
  /** The pattern of the page's route (`/orders/:id`). */
  readonly route?: string;
  /** Called with the address (`7K3QM2XA-9F4W0R6B`) once the server has given it. */
  readonly onAddress?: (reported: ReportedAddress) => void;
}

/** A possible failure, before it is decided whether to report it. */
export interface Happening {
  /** Time (ms since 1970). */
  readonly at: number;
  /**
   * An `error` or `unhandledrejection` event of the window, the `error` event of an element that did not load, or a
   * similar object from the engine: `react.caught` with its `reason`.
   */
  readonly event: Pick<Event, 'type' | 'target'> &
    Partial<Pick<ErrorEvent, 'error' | 'message' | 'filename' | 'lineno' | 'colno'>> & { readonly reason?: unknown };
  readonly details?: ReportDetails;
  readonly shown?: ShownError;
}

/** Details of a failure that the engine caught, or that the product reported. */
export type ReportDetails = ReportOptions &
  Partial<Pick<BrowserReport, 'kind' | 'echo' | 'componentStack' | 'said' | 'url' | 'route'>>;

/** An error that is shown in place of a route or a deferred value. */
export interface ShownError {
  readonly error: PageError;
  readonly thrown: unknown;
  readonly onAddress: (reported: ReportedAddress) => void;
}

/** The trace that this document belongs to (W3C Trace Context). */
export interface BrowserTrace {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits: the span of this document. */
  readonly spanId: string;
  /** 16 hexadecimal digits: the server's span, if it rendered the document for this visitor. */
  readonly parentId: string | undefined;
  /** `1` or `0`, as decided at the start of the trace; empty if undecided. */
  readonly sampled: string;
  readonly baggage: string;
}

/** The object that the document's first script sets as `window.spillwayEarly`. */
export interface EarlyErrors {
  readonly settings: BrowserReporting;
  /** Failures that have not been taken yet, oldest first. When the page unloads, the rest is sent from here. */
  readonly kept: Happening[];
  /** Called with every failure. If you replace it, also take the failures in `kept`. */
  take(happened: Happening): void;
  /** The browser's `fetch`, without headers for tracing. */
  readonly fetch: typeof globalThis.fetch;
  trace(): BrowserTrace;
}

/** Tags of browser events, which the tunnel reads and does not forward. */
export const REPORT_TAGS = {
  /** A kind with its own grouping key, such as `hydration`. */
  kind: 'spillway.kind',
  /** The address of the server's failure that the page shows: `7K3QM2XA-9F4W0R6B`. */
  echo: 'spillway.echo',
  build: 'spillway.build',
} as const;
