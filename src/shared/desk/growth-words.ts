import type { GrowthShape } from './shapes.ts';
import { toDuration, toMebibytes } from './words.ts';

/** What is known of how the memory of a process grew before it died, in a few sentences. */
export function toGrowthWords({ where, from, to, ms, heapLimit }: GrowthShape): string {
  const memory = `from ${toMebibytes(from.memory)} to ${toMebibytes(to.memory)}`;
  const heap = `from ${toMebibytes(from.heap)} to ${toMebibytes(to.heap)} of at most ${toMebibytes(heapLimit)}`;
  const time = toDuration(ms);
  switch (where) {
    case 'heap':
      return `The heap grew ${heap} in ${time}, and the memory of the process with it: ${memory}.`;
    case 'outside':
      return `Memory grew ${memory} in ${time}, outside of the heap: in Buffers, or what native code holds. The heap went ${heap}.`;
    case 'nowhere':
      return `Memory did not grow much: it went ${memory} in ${time}, the heap ${heap}.`;
  }
}
