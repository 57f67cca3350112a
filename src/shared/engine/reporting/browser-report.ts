import type { PageError, ToldAddress } from '../wire/payload.ts';

/**
 * How failures get from a page to the tunnel. A small script at the head of the document keeps them
 * from the first byte (`client/engine/hydration/early-errors.ts`), and the engine adds what React and the router
 * tell (`reporting.ts`). Two chunks follow when the browser is idle, or at the first failure: one judges
 * what happened (`deliver-reports.ts`), the other is the SDK, which sends it (`client/engine/reporting/sentry.ts`).
 */

/** What a browser needs to know to report: constants of a running server, in each document's first script. */
export interface BrowserReporting {
  /** Where envelopes are posted: `/_report`. */
  readonly tunnel: string;
  /** A DSN of an upstream; without one reports are ours alone, as `https://spillway@<host>/1`. */
  readonly dsn?: string;
  readonly build: string;
  readonly release?: string;
  readonly environment?: string;
}

/** What is not an ordinary exception. */
export type BrowserFailureKind = 'hydration' | 'load' | 'network';

/** One failure in the browser, on its way to the SDK. */
export interface BrowserReport {
  /** When it happened: milliseconds since 1970. */
  readonly at: number;
  /** An error, or whatever else was thrown. */
  readonly thrown: unknown;
  /** Who told of it, in Sentry's words for a mechanism: `onerror`, `onunhandledrejection`, `react.caught`. */
  readonly via: string;
  readonly kind?: BrowserFailureKind | undefined;
  /** Where something was thrown that has no stack: `https://example.com/assets/home-X7K2.js:1:2048`. */
  readonly place?: string;
  /** The address of the server's failure that this one shows. */
  readonly echo?: string;
  /** React's: the components around it, innermost first. */
  readonly componentStack?: string | null;
  /** What React said of it, where that is not the error itself. */
  readonly said?: string;
  /** Of the page, without its search. */
  readonly url: string;
  /** The pattern of the page's route (`/orders/:id`). */
  readonly route?: string;
  /** Called with the address (`7K3QM2XA-9F4W0R6B`) once the server has given it. */
  readonly onAddress?: (told: ToldAddress) => void;
}

/** Something that failed, as it was met: not yet judged. */
export interface Happening {
  /** When: milliseconds since 1970. */
  readonly at: number;
  /**
   * An `error` or `unhandledrejection` of the window, the `error` of an element that did not load, or
   * the like of it by the engine: `react.caught` with its `reason`.
   */
  readonly event: Pick<Event, 'type' | 'target'> &
    Partial<Pick<ErrorEvent, 'error' | 'message' | 'filename' | 'lineno' | 'colno'>> & { readonly reason?: unknown };
  readonly details?: ReportDetails;
  readonly shown?: ShownError;
}

/** What the engine knows of a failure that it met. */
export type ReportDetails = Partial<Pick<BrowserReport, 'kind' | 'echo' | 'componentStack' | 'said' | 'url' | 'route'>>;

/** An error that stands in the place of something. */
export interface ShownError {
  readonly error: PageError;
  readonly thrown: unknown;
  readonly onAddress: (told: ToldAddress) => void;
}

/** The trace that this document belongs to (W3C Trace Context). */
export interface BrowserTrace {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits: this document's own. */
  readonly spanId: string;
  /** 16 hexadecimal digits: the server's, where it rendered the document for this visitor. */
  readonly parentId: string | undefined;
  /** `1` or `0` as whoever began the trace decided; empty where nobody has. */
  readonly sampled: string;
  readonly baggage: string;
}

/** What the document's first script leaves behind, as `spillwayEarly` on the window. */
export interface EarlyErrors {
  readonly settings: BrowserReporting;
  /** What nobody took, oldest first. What is still here when the page goes is sent from here. */
  readonly kept: Happening[];
  /** Called with all that happens. Whoever exchanges it takes what was kept, too. */
  take(happened: Happening): void;
  /** The browser's own, without headers for tracing. */
  readonly fetch: typeof globalThis.fetch;
  trace(): BrowserTrace;
}
