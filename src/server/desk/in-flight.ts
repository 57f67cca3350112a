import type { StackFrame } from '../engine/errors/failure.ts';

/** A request that is being answered: what is told of it if the process dies meanwhile. */
export interface InFlightRequest {
  readonly requestId: string;
  readonly method: string;
  /** The route's pattern where it is known, else the path without its search. */
  readonly route: string;
  /** How long it has been in flight (ms). */
  readonly ms: number;
}

/** How the process is, told by the main thread once a second. */
export interface Beat {
  readonly inFlight: readonly InFlightRequest[];
  /** Resident memory (bytes). */
  readonly memory: number;
}

/** The main thread did not come round for over a second. */
export interface BlockedLoop {
  /** When it began (ms since 1970). */
  readonly at: number;
  /** How long it lasted (ms). */
  readonly ms: number;
  /** What was on the stack while it lasted, from the innermost outwards; empty where that could not be asked. */
  readonly frames: readonly StackFrame[];
}
