import { listBodies, listEnvelopes, listMutants, listTexts } from './bodies.ts';
import { listAddresses, listFraming } from './framing.ts';
import type { BadInput, Doors } from './input.ts';

/** Returns several thousand requests that no well-behaved client sends, for all parts of a site. */
export function listBadInputs(doors: Doors): BadInput[] {
  return [
    ...listFraming(doors),
    ...listAddresses(doors),
    ...listBodies(doors),
    ...listEnvelopes(doors),
    ...listTexts(doors),
    ...listMutants(doors, 1, 600),
  ];
}
