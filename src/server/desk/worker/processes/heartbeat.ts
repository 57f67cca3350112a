import type { InFlightRequest } from '../../../engine/connection/in-flight.ts';
import type { StackFrame } from '../../../engine/errors/failure.ts';

/** The state of the process, which the main thread sends once a second. */
export interface Heartbeat {
  readonly inFlight: readonly InFlightRequest[];
  /** Resident memory (bytes). */
  readonly memory: number;
  /** V8's heap in the main thread. Undefined in heartbeats of earlier releases. */
  readonly heap?: HeapUse;
}

/** In bytes. */
interface HeapUse {
  readonly used: number;
  /** V8 ends the process when the heap reaches this size. */
  readonly limit: number;
}

/** The main thread was blocked for over a second. */
export interface BlockedLoop {
  /** When the block began (ms since 1970). */
  readonly at: number;
  /** How long it lasted (ms). */
  readonly ms: number;
  /** The stack during the block, innermost first. Empty if it could not be read. */
  readonly frames: readonly StackFrame[];
}

/** The memory use since the start, in equal steps. */
export interface MemoryHistory {
  /** When the first step began (ms since 1970), and the length of each step (ms). */
  readonly at: number;
  readonly step: number;
  /** The highest values of each step, the oldest first (bytes): resident memory, and used heap of V8. */
  readonly points: readonly (readonly [memory: number, heap: number])[];
}

/** The memory history that is stored, so that it is known after the process dies. */
export interface MemoryStory extends MemoryHistory {
  /** The limit of V8's heap (bytes). */
  readonly heapLimit: number;
}
