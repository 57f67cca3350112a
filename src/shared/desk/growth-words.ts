import { toDuration, toMebibytes } from '../words.ts';
import type { GrowthShape } from './shapes.ts';

/** Describes how the memory of a process grew before it died. */
export function toGrowthWords({ where, from, to, ms, heapLimit }: GrowthShape): string {
  const memory = `from ${toMebibytes(from.memory)} to ${toMebibytes(to.memory)}`;
  const heap = `from ${toMebibytes(from.heap)} to ${toMebibytes(to.heap)} of at most ${toMebibytes(heapLimit)}`;
  const time = toDuration(ms);
  switch (where) {
    case 'heap':
      return `The heap grew ${heap} in ${time}, and the memory of the process ${memory}.`;
    case 'outside':
      return `Memory grew ${memory} in ${time}, outside of the heap: in Buffers or in native code. The heap changed ${heap}.`;
    case 'nowhere':
      return `Memory changed little: ${memory} in ${time}. The heap changed ${heap}.`;
  }
}
