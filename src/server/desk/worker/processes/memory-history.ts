import { BEAT_INTERVAL, MEMORY_POINTS } from '../../limits.ts';
import type { MemoryHistory } from './heartbeat.ts';

type Point = readonly [memory: number, heap: number];

/**
 * Records the memory use since the first point, with the same number of points for a minute as for a month.
 * When the history is full, its steps become twice as long, and the larger of each two points stays.
 *
 * @param now milliseconds, monotonic
 */
export function createMemoryHistory({ now = () => performance.now() } = {}) {
  let points: readonly Point[] = [];
  let step: number = BEAT_INTERVAL;
  let first = 0;
  let at = 0;

  function toSlot(): number {
    return Math.floor((now() - first) / step);
  }

  function halve(): void {
    step *= 2;
    points = points.flatMap((point, index) => (index % 2 === 0 ? [toLarger(point, points[index + 1])] : []));
  }

  return {
    /** Adds the current use (bytes). @returns whether a new step began, so that `tell` returns a new history */
    add(memory: number, heap: number): boolean {
      if (points.length === 0) {
        first = now();
        at = Date.now();
      }
      while (toSlot() >= MEMORY_POINTS) halve();
      const slot = toSlot();
      const last = points.at(-1);
      if (last && slot < points.length) {
        points = points.with(-1, toLarger(last, [memory, heap]));
        return false;
      }
      // While the main thread was blocked, its memory did not change.
      const missed = last ? new Array<Point>(slot - points.length).fill(last) : [];
      points = [...points, ...missed, [memory, heap]];
      return true;
    },
    /** Returns the history, or undefined if it is empty. */
    tell: (): MemoryHistory | undefined => (points.length === 0 ? undefined : { at, step, points }),
  };
}

function toLarger(one: Point, other: Point = one): Point {
  return [Math.max(one[0], other[0]), Math.max(one[1], other[1])];
}
