import type { InFlightRequest } from '../../../engine/connection/in-flight.ts';
import type { StackFrame } from '../../../engine/errors/failure.ts';

/** How the process is, told by the main thread once a second. */
export interface Heartbeat {
  readonly inFlight: readonly InFlightRequest[];
  /** Resident memory (bytes). */
  readonly memory: number;
  /** V8's heap of the main thread; undefined in what an earlier release wrote. */
  readonly heap?: HeapUse;
}

/** Bytes, both. */
interface HeapUse {
  readonly used: number;
  /** V8 ends the process where it finds no more room below this. */
  readonly limit: number;
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

/** How memory was since the start, in equal steps. */
export interface MemoryHistory {
  /** When the first step began (ms since 1970), and how long each is (ms). */
  readonly at: number;
  readonly step: number;
  /** The most of each step, oldest first (bytes): resident memory, and what of V8's heap was used. */
  readonly points: readonly (readonly [memory: number, heap: number])[];
}

/** What of memory is written down, so that it is known after a death. */
export interface MemoryStory extends MemoryHistory {
  /** What V8's heap may have (bytes). */
  readonly heapLimit: number;
}
