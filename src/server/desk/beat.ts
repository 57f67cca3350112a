import type { StackFrame } from '../engine/errors/failure.ts';
import type { InFlightRequest } from '../engine/http/in-flight.ts';

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
