import type { FailureKind } from '../../shared/words.ts';
import type { Breadcrumb } from '../request/request-info.ts';

/** Where a failure happened. It is not part of the digest: a bug that is reached in two ways is one incident. */
export type FailureOrigin =
  | 'loader'
  | 'action'
  | 'guard'
  | 'render'
  | 'late'
  | 'api'
  | 'step'
  | 'request'
  | 'process'
  /** Reported by the product, which handled it: within a request, or outside, as in a background job. */
  | 'report'
  | 'service'
  | 'browser';

export interface StackFrame {
  /**
   * `server/main.js` or `client/assets/home-X7K2QM2X.js` for our own bundles (a path within `dist`),
   * `node_modules/pg/lib/client.js` for a package, `node:fs` for Node itself, an origin and path for a
   * foreign script; empty if the engine gives none. Never an absolute path of this machine.
   */
  readonly file: string;
  /** From 1; 0 if the engine gives none. */
  readonly line: number;
  /** From 1; 0 if the engine gives none. */
  readonly column: number;
  /** The engine's name for it, empty if it has none. Only for display: engines and minifiers disagree on it. */
  readonly function: string;
  /** V8's `async` frames: callers that awaited. */
  readonly async?: true;
}

/** One error of a chain of causes, read as untrusted input. */
export interface ErrorRecord {
  /** `TypeError`; `NonError` for a thrown value that is not an error. */
  readonly class: string;
  readonly message: string;
  /** `ECONNREFUSED`, `23505`: only if it looks like a code. */
  readonly code?: string;
  /** From the throw outwards. */
  readonly frames: readonly StackFrame[];
  /** Classes of an `AggregateError`'s errors, sorted, without duplicates. */
  readonly members?: readonly string[];
}

/** The place in the source where something was thrown. */
export interface FrameLocation {
  /** Relative to the project's root: `src/server/product/pages/cart.ts`. */
  readonly path: string;
  /** The nearest named function around it, qualified: `Cart.checkout`; empty at the top of a module. */
  readonly function: string;
  /** The `throw` statement, or the property that was missing. */
  readonly detail: string;
}

/** The type of a posted field, with its value if `reporting.keep` lists its name. */
export type BodyField =
  | 'string'
  | 'number'
  | 'boolean'
  | 'null'
  | 'file'
  | { readonly value: string | number | boolean }
  | { readonly fields: Readonly<Record<string, BodyField>> }
  | { readonly items: readonly BodyField[] };

/** The parts of a request that an operator can see: no body, cookies, credentials or address. */
export interface RequestRecord {
  readonly method: string;
  /** Path and query, scrubbed; an absolute URL for a failure in a browser. */
  readonly url: string;
  /** Only listed headers, scrubbed. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Names of the cookies, and `authorization`, if the request had them. Values are never recorded. */
  readonly credentials?: readonly string[];
  /** Names and types of the posted fields. */
  readonly body?: BodyField;
}

/**
 * One occurrence of a failure, as it is journaled, stored and reported. It is plain JSON, scrubbed of secrets and cut
 * by `trimFailure` before any reporter gets it.
 */
export interface Failure {
  /** 32 hexadecimal digits, also Sentry's event id. */
  readonly id: string;
  /** Names the kind of failure: 8 characters of Crockford base32. */
  readonly digest: string;
  /** The last 40 bits of `id`, in Crockford base32. */
  readonly occurrence: string;
  /** Set if the build's table was not available: who stores the failure makes the digest. */
  readonly unresolved?: true;
  readonly kind: FailureKind;
  readonly side: 'server' | 'browser';
  readonly origin: FailureOrigin;
  /** Set if it was reported as one. */
  readonly level?: 'warning';
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly build: string;
  readonly release: string;
  /** Outermost first; empty for a failure without an error, such as an unclean death. */
  readonly errors: readonly ErrorRecord[];
  /** One line for lists: `TypeError: Cannot read properties of undefined (reading 'total')`. */
  readonly title: string;
  readonly location?: FrameLocation;
  /** The route's pattern (`/orders/:id`), never the URL. */
  readonly route?: string;
  readonly routeId?: string;
  readonly requestId?: string;
  /** W3C: 32 hexadecimal digits. */
  readonly traceId?: string;
  readonly spanId?: string;
  readonly request?: RequestRecord;
  /** React's: the components around a failed render, innermost first. */
  readonly componentStack?: string;
  readonly breadcrumbs?: readonly Breadcrumb[];
  readonly tags?: Readonly<Record<string, string>>;
  /** Other facts, such as the difference at hydration, or the requests in flight at a death. */
  readonly extra?: Readonly<Record<string, unknown>>;
  /** Identifies the visitor: a salted hash that changes daily. Only the tracker makes it. */
  readonly visitor?: string;
  /** Names of the parts that were cut to fit the limits, such as `breadcrumbs`. */
  readonly cut?: readonly string[];
  /** The address of the server's failure that this one repeats: only that one is counted. */
  readonly echoOf?: string;
}

/** What else learns of each failure, such as Sentry. */
export interface Reporter {
  /**
   * Called once for each failure, after it was stored and before its address leaves the process.
   *
   * @param error the thrown value, if there is one
   * @throws without effect: the funnel logs the error
   */
  report(failure: Failure, error: unknown): void;
}

/** Who met a failure. A tracker stores only a hash of it. */
export interface Visitor {
  /** The address of the request; empty if there is none. */
  readonly address: string;
  /** The product's own id of the visitor, if it has one. */
  readonly id: string | undefined;
}

/**
 * Returns the URL that shows a failure to those who may see it: a path of this site, or an absolute URL.
 *
 * @param address `7K3QM2XA-9F4W0R6B`
 */
export type ToFailureUrl = (address: string) => string | undefined;
