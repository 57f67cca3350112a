import type { GrowthShape, MemoryShape } from '../../../shared/desk/shapes.ts';
import { MiB, Minute } from '../../../shared/units.ts';

/**
 * The time in which a process loads its code (ms). If it lived longer than twice that, growth is measured from then on.
 */
const SETTLED_AFTER = 1 * Minute;
/** Less than this (bytes), or less than this share of the first level, does not count as growth. */
const LEAST_GROWTH = { bytes: 32 * MiB, share: 0.5 };
/** From this share of the growth on, the heap is what grew. */
const HEAP_PART = 0.5;

export interface KnownEnd {
  readonly lastHeardAt: number;
  /** Resident memory then (bytes). */
  readonly memory: number | undefined;
}

/** @param history as `unclean-death.ts` writes it, or anything else. @returns undefined if it is not usable */
export function presentGrowth(history: unknown, { lastHeardAt, memory }: KnownEnd): GrowthShape | undefined {
  const { at, step, points, heapLimit } = toRecord(history);
  const shown = Array.isArray(points) ? points.flatMap(toMemory) : [];
  const last = shown.at(-1);
  if (!last || typeof at !== 'number' || typeof step !== 'number' || step <= 0) return undefined;
  const lived = lastHeardAt - at;
  const first = lived > 2 * SETTLED_AFTER ? Math.floor(SETTLED_AFTER / step) : 0;
  const from = shown[first] ?? last;
  const to = { memory: memory ?? last.memory, heap: last.heap };
  return {
    at,
    step,
    memory: shown.map((point) => point.memory),
    heap: shown.map(({ heap }) => heap),
    heapLimit: typeof heapLimit === 'number' ? heapLimit : 0,
    where: findGrowth(from, to),
    from,
    to,
    ms: Math.max(0, lived - first * step),
  };
}

function findGrowth(from: MemoryShape, to: MemoryShape): GrowthShape['where'] {
  const [memory, heap] = [to.memory - from.memory, to.heap - from.heap];
  // Resident memory does not grow if the heap grew into memory that was already reserved.
  if (heap >= toLeast(from.heap) && heap >= memory * HEAP_PART) return 'heap';
  return memory >= toLeast(from.memory) ? 'outside' : 'nowhere';
}

function toLeast(from: number): number {
  return Math.max(LEAST_GROWTH.bytes, from * LEAST_GROWTH.share);
}

function toMemory(point: unknown): MemoryShape[] {
  if (!Array.isArray(point)) return [];
  const [memory, heap] = point as unknown[];
  return typeof memory === 'number' && typeof heap === 'number' ? [{ memory, heap }] : [];
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
