import { createHash } from 'node:crypto';

/**
 * Counts the distinct visitors of an incident in at most 1 KB: exactly up to 240, and above that with a
 * HyperLogLog of 1,024 registers (standard error 3.3 %). A table of visitors would grow with each storm.
 * Sketches of merged incidents are united without counting a visitor twice. Each sketch is also kept, for
 * an unmerge.
 *
 * The first byte is the format: 0 for a sorted list of 32-bit hashes, 1 for one-byte registers.
 */
export type VisitorSketch = Uint8Array;

/** The longest list. Registers take less space than a longer one. */
const MAX_LISTED = 240;
/** The number of bits of the hash that select a register. */
const INDEX_BITS = 10;
const REGISTERS = 2 ** INDEX_BITS;
/** For 1,024 registers (Flajolet and others, "HyperLogLog", figure 3). */
const ALPHA = 0.7213 / (1 + 1.079 / REGISTERS);

export const EMPTY_SKETCH: VisitorSketch = Uint8Array.of(0);

/** @returns the same object if it has all of these visitors */
export function addVisitors(sketch: VisitorSketch, visitors: Iterable<string>): VisitorSketch {
  return addHashes(sketch, [...new Set(visitors)].map(hashVisitor));
}

export function uniteSketches(sketches: readonly VisitorSketch[]): VisitorSketch {
  return sketches.reduce((all, sketch) => {
    if (!isDense(sketch)) return addHashes(all, readList(sketch));
    const [dense, other] = isDense(all) ? [sketch.slice(), all] : [addHashes(sketch, readList(all)).slice(), sketch];
    for (let index = 1; index <= REGISTERS; index += 1) dense[index] = Math.max(dense[index] ?? 0, other[index] ?? 0);
    return dense;
  }, EMPTY_SKETCH);
}

/**
 * Replaces hashes in a list. Registers do not change, because many visitors share one.
 *
 * @returns the same object if it has none of these hashes
 */
export function exchangeHashes(sketch: VisitorSketch, exchange: ReadonlyMap<number, number>): VisitorSketch {
  if (isDense(sketch)) return sketch;
  const hashes = readList(sketch);
  if (!hashes.some((hash) => exchange.has(hash))) return sketch;
  return writeList(new Set(hashes.map((hash) => exchange.get(hash) ?? hash)));
}

export function countVisitors(sketch: VisitorSketch): number {
  if (!isDense(sketch)) return (sketch.length - 1) / 4;
  let sum = 0;
  let empty = 0;
  for (const rank of sketch.subarray(1)) {
    sum += 2 ** -rank;
    if (rank === 0) empty += 1;
  }
  const estimate = (ALPHA * REGISTERS * REGISTERS) / sum;
  // Linear counting is more accurate while few registers are in use.
  const counted = estimate <= 2.5 * REGISTERS && empty > 0 ? REGISTERS * Math.log(REGISTERS / empty) : estimate;
  return Math.round(counted);
}

function addHashes(sketch: VisitorSketch, hashes: readonly number[]): VisitorSketch {
  if (isDense(sketch)) return addToRegisters(sketch, hashes);
  const known = new Set(readList(sketch));
  const before = known.size;
  for (const hash of hashes) known.add(hash);
  if (known.size === before) return sketch;
  if (known.size <= MAX_LISTED) return writeList(known);
  const dense = new Uint8Array(1 + REGISTERS);
  dense[0] = 1;
  return addToRegisters(dense, [...known]);
}

function addToRegisters(sketch: VisitorSketch, hashes: readonly number[]): VisitorSketch {
  let changed: Uint8Array | undefined;
  for (const hash of hashes) {
    const index = 1 + (hash >>> (32 - INDEX_BITS));
    // The 1-based position of the first 1 after the index bits. A guard bit ends the search.
    const rank = Math.clz32((hash << INDEX_BITS) | (2 ** INDEX_BITS / 2)) + 1;
    if (rank <= ((changed ?? sketch)[index] ?? 0)) continue;
    changed ??= sketch.slice();
    changed[index] = rank;
  }
  return changed ?? sketch;
}

function isDense(sketch: VisitorSketch): boolean {
  return sketch[0] === 1;
}

function readList(sketch: VisitorSketch): number[] {
  const view = new DataView(sketch.buffer, sketch.byteOffset, sketch.byteLength);
  return Array.from({ length: (sketch.length - 1) / 4 }, (_, index) => view.getUint32(1 + 4 * index));
}

function writeList(hashes: ReadonlySet<number>): VisitorSketch {
  const sketch = new Uint8Array(1 + 4 * hashes.size);
  const view = new DataView(sketch.buffer);
  for (const [index, hash] of [...hashes].sort((left, right) => left - right).entries()) {
    view.setUint32(1 + 4 * index, hash);
  }
  return sketch;
}

/** Returns the 32-bit hash of a visitor in sketches. */
export function hashVisitor(visitor: string): number {
  return createHash('sha1').update(visitor).digest().readUInt32BE(0);
}
