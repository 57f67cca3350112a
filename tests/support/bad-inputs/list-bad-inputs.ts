import { listBodies, listEnvelopes, listMutants, listTexts } from './bodies.ts';
import { listAddresses, listFraming } from './framing.ts';
import type { BadInput, Doors } from './input.ts';

export interface ListOptions {
  /** Of what is made by chance: the same inputs for the same one. */
  readonly seed?: number;
  /** How many sound requests are broken by chance (a count). */
  readonly mutants?: number;
}

/** Some thousand requests that no well-meaning client sends, over all doors of a site. */
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
