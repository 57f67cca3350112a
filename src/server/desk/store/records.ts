import type { IncidentState, SideCounts } from '../../../shared/desk/shapes.ts';
import type { Failure, FailureKind, FrameLocation, StackFrame } from '../../engine/errors/failure.ts';

/** A stack frame in the source code. */
export interface ResolvedFrame {
  /** For example `src/server/product/pages/cart.ts`. Without a source map, the file that the stack names. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly function: string;
  /** The file belongs to the product or to Spillway, not to a dependency. */
  readonly own: boolean;
  /** Source lines around the frame. `start` is the number of the first. */
  readonly context?: { readonly start: number; readonly lines: readonly string[] };
  readonly async?: StackFrame['async'];
}

/** The full record of an occurrence. */
export interface StoredFailure extends Failure {
  /** The resolved frames of each of `errors`. Absent if the build has no source maps. */
  readonly resolved?: readonly (readonly ResolvedFrame[])[];
  /** React's component stack, innermost first. Elements have only a name. */
  readonly components?: readonly ResolvedFrame[];
}

/** All failures with one digest. */
export interface Incident {
  /** The key in the store's tables (`incident-key.ts`). */
  readonly key: string;
  readonly digest: string;
  /** `SENTRY_ENVIRONMENT` of the servers that stored it. */
  readonly environment: string;
  /** The version of the rule that made the digest. */
  readonly rule: number;
  readonly kind: FailureKind;
  /** Empty if only counts were ever kept. */
  readonly title: string;
  readonly class: string;
  readonly message: string;
  readonly site?: FrameLocation;
  /** The line of the frame location, from the latest full record. */
  readonly locationLine?: number;
  readonly route?: string;
  readonly weak: boolean;
  readonly state: IncidentState;
  /** Grows with each change by an operator and each return. The `ETag` contains it. */
  readonly version: number;
  /** When the state last changed (ms since 1970, by the store's clock). */
  readonly stateAt?: number;
  /** The name of the token that changed the state. Undefined if Spillway changed it. */
  readonly stateBy?: string;
  /** If it is resolved: `next` lasts until it returns in a release that was first published later. */
  readonly resolvedIn?: 'now' | 'next';
  /** If it is ignored: until this time (ms since 1970), or until it happens this often in an hour. */
  readonly ignoredUntil?: number;
  readonly ignoredGrowth?: number;
  /** Set if it is open because it returned after it was resolved. */
  readonly regressed?: { readonly at: number; readonly release: string };
  readonly assignee?: string;
  /** The side that first saw it. */
  readonly firstSide: Failure['side'];
  readonly firstAt: number;
  readonly lastAt: number;
  readonly firstRelease: string;
  readonly firstBuild: string;
  readonly lastRelease: string;
  readonly lastBuild: string;
  /** How often it happened, including merged incidents. Always exact. */
  readonly counts: SideCounts;
  /**
   * The number of affected visitors, each counted once a day because their hash changes daily. Exact up to
   * 240, and within about 3 % above. Sampled-out occurrences past the journal's limit have no visitor.
   */
  readonly visitors: number;
  /** Other digests of its environment that were merged into it. */
  readonly aliases: readonly string[];
}

/** An hour in which an incident happened. */
export interface IncidentHour extends SideCounts {
  /** The start of the hour (ms since 1970). */
  readonly at: number;
  /** The number of stored occurrences. The others are only counted. */
  readonly kept: number;
}

export interface IncidentRelease {
  readonly release: string;
  readonly build: string;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly count: number;
  /** When it returned in this release after it had been resolved (ms since 1970). */
  readonly regressedAt?: number;
}

/** One occurrence of an incident. */
export interface Occurrence {
  /** As in the address. */
  readonly digest: string;
  readonly occurrence: string;
  readonly at: number;
  readonly side: Failure['side'];
  readonly requestId?: string;
  readonly traceId?: string;
  readonly build: string;
  readonly release: string;
  readonly route?: string;
  readonly visitor?: string;
  /** Whether there is a full record. */
  readonly isWhole: boolean;
  /** The full record, if there is one and the caller requested it. */
  readonly whole?: StoredFailure;
}

/** The result of looking up an address. */
export interface Found {
  readonly incident: Incident;
  readonly occurrence?: Occurrence;
  /**
   * The state of the occurrence in the address, undefined if it names none. `kept`: stored. `thinned`:
   * possibly sampled out. `unknown`: deleted, or never existed. `arriving`: possibly not stored yet, which
   * only the desk worker returns.
   */
  readonly state?: 'kept' | 'thinned' | 'unknown' | 'arriving';
}

/** A server process, running or ended. */
export interface ProcessRecord {
  readonly id: string;
  readonly build: string;
  readonly release: string;
  readonly startedAt: number;
  readonly beatAt: number;
  readonly endedAt?: number;
  readonly ended?: 'clean' | 'unclean';
  readonly memory: number;
}
