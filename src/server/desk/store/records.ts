import type { Failure, FailureKind, Site, StackFrame } from '../../engine/errors/failure.ts';

/** A frame as its author knows it. */
export interface ResolvedFrame {
  /** `src/server/product/pages/cart.ts`; what the engine said where no map knows better. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly function: string;
  /** The file is the application's own, or the engine's. */
  readonly own: boolean;
  /** Lines of source around the place; `start` is the number of the first. */
  readonly context?: { readonly start: number; readonly lines: readonly string[] };
  readonly async?: StackFrame['async'];
}

/** What is kept of a whole occurrence. */
export interface StoredFailure extends Failure {
  /** For each of `errors`, its frames by the source maps of its build; absent where there were none. */
  readonly resolved?: readonly (readonly ResolvedFrame[])[];
}

export type IncidentState = 'open' | 'resolved' | 'ignored';

/** Failures of one kind: what stands under one digest. */
export interface Incident {
  readonly digest: string;
  /** The version of the rule that made the digest. */
  readonly rule: number;
  readonly kind: FailureKind;
  /** Empty where nothing but a count was ever kept. */
  readonly title: string;
  readonly class: string;
  readonly message: string;
  readonly site?: Site;
  readonly route?: string;
  readonly weak: boolean;
  readonly state: IncidentState;
  /** Where it was first seen. */
  readonly firstSide: Failure['side'];
  readonly firstAt: number;
  readonly lastAt: number;
  readonly firstRelease: string;
  readonly firstBuild: string;
  readonly lastRelease: string;
  readonly lastBuild: string;
  /** How often it happened, exactly, with what was merged into it. */
  readonly counts: SideCounts;
  /** Other digests that lead here. */
  readonly aliases: readonly string[];
}

export interface SideCounts {
  readonly server: number;
  readonly browser: number;
}

/** An hour in which an incident was seen. */
export interface IncidentHour extends SideCounts {
  /** Its beginning (ms since 1970). */
  readonly at: number;
  /** Occurrences of this hour that are kept; the others are counted alone. */
  readonly kept: number;
}

export interface IncidentRelease {
  readonly release: string;
  readonly build: string;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly count: number;
}

/** One time that it happened. */
export interface Occurrence {
  /** As it stands in the address. */
  readonly digest: string;
  readonly occurrence: string;
  readonly at: number;
  readonly side: Failure['side'];
  readonly requestId?: string;
  readonly build: string;
  readonly release: string;
  readonly route?: string;
  readonly visitor?: string;
  /** All of it, where it was one of the sample. */
  readonly whole?: StoredFailure;
}

/** What an address leads to. */
export interface Found {
  readonly incident: Incident;
  readonly occurrence?: Occurrence;
  /**
   * Of the occurrence in the address: `kept`; `thinned` where it may be one of those that were only
   * counted; `unknown` where it never was or is gone; undefined where the address names none.
   */
  readonly state?: 'kept' | 'thinned' | 'unknown';
}

/** A process that serves, or served. */
export interface Run {
  readonly id: string;
  readonly build: string;
  readonly release: string;
  readonly startedAt: number;
  readonly beatAt: number;
  readonly endedAt?: number;
  readonly ended?: 'clean' | 'unclean';
  readonly memory: number;
}
