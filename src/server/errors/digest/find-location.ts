import type { ErrorRecord, StackFrame } from '../failure.ts';
import { type FoundLocation, type LocationTable, toFirst } from './location-table.ts';
import { readNativeDetail } from './read-message.ts';

/** Frames that are searched for the loop of an endless recursion (count). V8 gives no more by default. */
const RECURSION_FRAMES = 10;

/** How well a frame serves as the location, the best first. */
const RANK = { product: 0, productAwaiting: 1, engine: 2, engineAwaiting: 3, passedThrough: 4 } as const;

/**
 * Returns the first frame from the throw that belongs to the application. Helpers that throw for their callers and
 * constructors of errors are skipped. A function that only awaited is used if there is no other, and the engine's own
 * frames if there is no product frame. They do not count below a package, which they only passed the request to.
 */
export function findLocation(error: ErrorRecord, table: LocationTable): FoundLocation | undefined {
  if (isRecursion(error)) return findRepeated(error.frames, table) ?? findFirst(error.frames, table);
  return findFirst(error.frames, table);
}

/** True for a location in the product; false in the engine or without a location. */
export function isProducts(location: FoundLocation | undefined): boolean {
  return location?.owner === 'product';
}

function findFirst(frames: readonly StackFrame[], table: LocationTable): FoundLocation | undefined {
  let best: FoundLocation | undefined;
  let bestRank: number = RANK.passedThrough + 1;
  let isInPackage = false;
  for (const frame of frames) {
    const location = table.find(frame);
    if (location?.owner === 'dependency') isInPackage = true;
    if (!location || (isInPackage && !isProducts(location))) continue;
    const rank = rankOf(location, frame.async === true);
    if (rank === RANK.product) return location;
    if (rank < bestRank) {
      best = location;
      bestRank = rank;
    }
  }
  return best;
}

function rankOf(location: FoundLocation, isAsync: boolean): number {
  if (location.isHelper || location.isErrorClass) return RANK.passedThrough;
  if (isProducts(location)) return isAsync ? RANK.productAwaiting : RANK.product;
  return isAsync ? RANK.engineAwaiting : RANK.engine;
}

function isRecursion({ class: name, message }: ErrorRecord): boolean {
  return (name === 'RangeError' || name === 'InternalError') && readNativeDetail(message)?.detail === 'recursion';
}

/**
 * When functions call each other endlessly, it is chance which of them is on top, or what they called last. So this
 * returns the first by name of those that repeat.
 */
function findRepeated(frames: readonly StackFrame[], table: LocationTable): FoundLocation | undefined {
  const counts = new Map<string, { location: FoundLocation; count: number }>();
  for (const frame of frames.slice(0, RECURSION_FRAMES)) {
    const location = table.find(frame);
    if (!isProducts(location) || !location) continue;
    const { path, function: name } = toFirst(location);
    const key = `${path}:${name}`;
    counts.set(key, { location, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  const repeated = [...counts].filter(([, { count }]) => count > 1).sort(([left], [right]) => (left < right ? -1 : 1));
  return repeated[0]?.[1].location;
}
