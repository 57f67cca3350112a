import type { IncidentState, SideCounts } from '../../../shared/desk/shapes.ts';
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
  /** React's components around it, innermost first; elements have a name alone. */
  readonly components?: readonly ResolvedFrame[];
}

/** Failures of one kind: what stands under one digest. */
export interface Incident {
  /** Its name in the store's tables (`incident-key.ts`). */
  readonly key: string;
  readonly digest: string;
  /** Where it happened: `SENTRY_ENVIRONMENT` of the servers that stored it. */
  readonly environment: string;
  /** The version of the rule that made the digest. */
  readonly rule: number;
  readonly kind: FailureKind;
  /** Empty where nothing but a count was ever kept. */
  readonly title: string;
  readonly class: string;
  readonly message: string;
  readonly site?: Site;
  /** The line of the site, as it was when it was last seen whole. */
  readonly siteLine?: number;
  readonly route?: string;
  readonly weak: boolean;
  readonly state: IncidentState;
  /** Grows with each change of what people may change, and with each return: what an `ETag` is made of. */
  readonly version: number;
  /** Since when it is in this state, where it was ever changed (ms since 1970, by the store's clock). */
  readonly stateAt?: number;
  /** The name of whoever changed it; undefined where it changed by itself. */
  readonly stateBy?: string;
  /** Of a resolved one: `next` stays so until it returns in a release that was first published after that. */
  readonly resolvedIn?: 'now' | 'next';
  /** Of an ignored one: until this time (ms since 1970), or until it happens this often in an hour. */
  readonly ignoredUntil?: number;
  readonly ignoredGrowth?: number;
  /** Set where it is open because it returned after it was resolved. */
  readonly regressed?: { readonly at: number; readonly release: string };
  readonly assignee?: string;
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
  /**
   * Different visitors that it touched, each counted once a day, because their hash changes daily.
   * Exact up to 240, within about 3 % beyond; what was only counted, past the journal's bound, named none.
   */
  readonly visitors: number;
  /** Other digests of its environment that lead here. */
  readonly aliases: readonly string[];
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
  /** When it returned there after it had been resolved (ms since 1970). */
  readonly regressedAt?: number;
}

/** One time that it happened. */
export interface Occurrence {
  /** As it stands in the address. */
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
  /** It is one of the sample of which all is kept. */
  readonly isWhole: boolean;
  /** All of it, where that is kept and was asked for. */
  readonly whole?: StoredFailure;
}

/** What an address leads to. */
export interface Found {
  readonly incident: Incident;
  readonly occurrence?: Occurrence;
  /**
   * Of the occurrence in the address: `kept`; `thinned` where it may be one of those that were only
   * counted; `unknown` where it never was or is gone; undefined where the address names none. The desk
   * worker says `arriving` if it is perhaps not in the store yet.
   */
  readonly state?: 'kept' | 'thinned' | 'unknown' | 'arriving';
}

/** A process that serves, or served. */
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
