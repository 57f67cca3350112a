import type { GrowthShape } from './shapes.ts';
import { toDuration, toMebibytes } from './words.ts';

/** The class of what stands among the errors of a death for a function that allocated what stayed. */
export const HEAP_GROWTH = 'HeapGrowth';

/** What is known of how the memory of a process grew before it died, in a few sentences. */
export function toGrowthWords({ where, from, to, ms, heapLimit, isSampled }: GrowthShape): string {
  const memory = `from ${toMebibytes(from.memory)} to ${toMebibytes(to.memory)}`;
  const heap = `from ${toMebibytes(from.heap)} to ${toMebibytes(to.heap)} of at most ${toMebibytes(heapLimit)}`;
  return [toSentence(where, { memory, heap, time: toDuration(ms) }), ...(isSampled ? [STACKS] : [])].join(' ');
}

function toSentence(
  where: GrowthShape['where'],
  { memory, heap, time }: Readonly<Record<'memory' | 'heap' | 'time', string>>,
): string {
  switch (where) {
    case 'heap':
      return `The heap grew ${heap} in ${time}, and the memory of the process with it: ${memory}.`;
    case 'outside':
      return `Memory grew ${memory} in ${time}, outside of the heap: in Buffers, or what native code holds. The heap went ${heap}.`;
    case 'nowhere':
      return `Memory did not grow much: it went ${memory} in ${time}, the heap ${heap}.`;
  }
}

const STACKS =
  'The stacks below are of the functions that allocated what was alive when it was last looked at; who holds it they do not tell, so look for where a result is kept. A line is the one that its function begins at, and small functions may have become part of their callers.';
