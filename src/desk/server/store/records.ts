import type { Failure, FrameLocation, StackFrame } from '#engine/tracker';
import type { FailureKind } from '../../../shared/words.ts';
import type { IncidentState, SideCounts } from '../../shared/shapes.ts';
import type { OccurrenceSummary } from '../ingest/journal-entry.ts';
import type { IncidentKey } from './incident-key.ts';

/** A stack frame in the source code, for example in `src/server/product/pages/cart.ts`. Without a source map, as reported. */
export interface ResolvedFrame extends StackFrame {
  /** The file belongs to the product or to Spillway, not to a dependency. */
  readonly own: boolean;
  /** Source lines around the frame. `start` is the number of the first. */
  readonly context?: { readonly start: number; readonly lines: readonly string[] };
}

/** A failure with the source lines of its frames. */
export interface StoredFailure extends Failure {
  /** The resolved frames of each of `errors`. Absent if the build has no source maps. */
  readonly resolved?: readonly (readonly ResolvedFrame[])[];
  /** React's component stack, innermost first. Elements have only a name. */
  readonly components?: readonly ResolvedFrame[];
}

/** All failures with one digest in one environment. */
export interface Incident {
  readonly key: IncidentKey;
  readonly digest: string;
  readonly environment: string;
  readonly kind: FailureKind;
  /** Empty if only counts were ever stored. */
  readonly title: string;
  readonly message: string;
  readonly location?: Pick<FrameLocation, 'path' | 'function'>;
  /** The line of the location, from the latest full record. */
  readonly locationLine?: number;
  readonly route?: string;
  readonly state: IncidentState;
  /** Grows with each change by an operator and each return. The `ETag` contains it. */
  readonly version: number;
  /** When the state last changed (ms since 1970, by the store's clock). */
  readonly stateAt?: number;
  /** The name of the token that changed the state. Undefined if Spillway changed it. */
  readonly stateBy?: string;
  /** If it is resolved: `next` lasts until it returns in a release that was first started later. */
  readonly resolvedIn?: 'now' | 'next';
  /** If it is ignored: until this time (ms since 1970), or until it happens this often in an hour. */
  readonly ignoredUntil?: number;
  readonly ignoredGrowth?: number;
  /** The release in which it returned after it was resolved, if it is open for that reason. */
  readonly regressedIn?: string;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly firstRelease: string;
  readonly lastRelease: string;
  /** How often it happened. Always exact. */
  readonly counts: SideCounts;
  /** The number of different visitors in the stored occurrences. Their hashes change daily. */
  readonly visitors: number;
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
export interface Occurrence extends Omit<OccurrenceSummary, 'digest'> {
  readonly key: IncidentKey;
  /** Whether there is a full record. */
  readonly isFull: boolean;
  /** The full record, if there is one and the caller requested it. */
  readonly full?: StoredFailure;
}

/** The result of looking up an address. */
export interface FoundIncident {
  readonly incident: Incident;
  readonly occurrence?: Occurrence;
  /**
   * The state of the occurrence in the address, undefined if it names none. `sampled`: possibly only counted. `unknown`:
   * deleted, or never existed. `arriving`: possibly not stored yet, which only the desk worker returns.
   */
  readonly state?: 'stored' | 'sampled' | 'unknown' | 'arriving';
}
