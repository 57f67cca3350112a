import { listBodies, listEnvelopes, listMutants, listTexts } from './bodies.ts';
import { listAddresses, listFraming } from './framing.ts';
import type { BadInput, Doors } from './input.ts';

export interface ListOptions {
  /** Seeds the random inputs. The same seed gives the same inputs. */
  readonly seed?: number;
  /** How many valid requests are randomly corrupted (a count). */
  readonly mutants?: number;
}

/** Returns several thousand requests that no well-behaved client sends, for all parts of a site. */
export function listBadInputs(doors: Doors, { seed = 1, mutants = 600 }: ListOptions = {}): BadInput[] {
  return [
    ...listFraming(doors),
    ...listAddresses(doors),
    ...listBodies(doors),
    ...listEnvelopes(doors),
    ...listTexts(doors),
    ...listMutants(doors, seed, mutants),
  ];
}
