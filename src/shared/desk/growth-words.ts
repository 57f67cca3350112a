import type { GrowthShape } from './shapes.ts';
import { toDuration, toMebibytes } from './words.ts';

/** The class of what stands among the errors of a death for a function that allocated what stayed. */
export const HEAP_GROWTH = 'HeapGrowth';

/** What is known of how the memory of a process grew before it died, in a few sentences. */
export function toGrowthWords({ where, from, to, ms, heapLimit, isSampled }: GrowthShape): string {
  const memory = `from ${toMebibytes(from.memory)} to ${toMebibytes(to.memory)} in ${toDuration(ms)}`;
  const heap = `from ${toMebibytes(from.heap)} to ${toMebibytes(to.heap)} of at most ${toMebibytes(heapLimit)}`;
  const stacks = isSampled ? ` ${STACKS}` : '';
  switch (where) {
    case 'heap':
      return `Memory grew ${memory}, and the heap with it: ${heap}.${stacks}`;
    case 'outside':
      return `Memory grew ${memory}, outside of the heap: in Buffers, or what native code holds. The heap went ${heap}.${stacks}`;
    case 'nowhere':
      return `Memory did not grow much: it went ${memory}, the heap ${heap}.${stacks}`;
  }
}

const STACKS =
  'The stacks below are of the functions that allocated what was alive when it was last looked at: the line is the one that the function begins at, and small functions that it calls may have become part of it.';
