import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  addVisitors,
  countVisitors,
  EMPTY_SKETCH,
  uniteSketches,
} from '../../../../../src/server/desk/store/visitors/visitor-sketch.ts';

const visitors = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `visitor ${from + index}`);
const sketch = (from: number, to: number) => addVisitors(EMPTY_SKETCH, visitors(from, to));

it('counts few visitors exactly, and each once', () => {
  expect(countVisitors(EMPTY_SKETCH)).toBe(0);
  expect(countVisitors(addVisitors(sketch(0, 240), visitors(100, 240)))).toBe(240);
});

it.each([300, 1000, 5000, 50_000, 500_000])('counts %d visitors with an error under 10%, in about 1 KB', (count) => {
  const many = sketch(0, count);
  expect(Math.abs(countVisitors(many) - count)).toBeLessThan(count / 10);
  expect(many.length).toBeLessThanOrEqual(1025);
});

it('returns the same object if no visitor is new', () => {
  for (const known of [sketch(0, 10), sketch(0, 1000)]) expect(addVisitors(known, visitors(3, 9))).toBe(known);
});

it('merges to the same sketch as counting all visitors together, in any order', () => {
  const size = fc.integer({ min: 0, max: 600 });
  fc.assert(
    fc.property(size, size, size, (first, second, shared) => {
      const left = sketch(0, first);
      const right = sketch(Math.max(0, first - shared), first + second);
      const all = sketch(0, first + second);
      expect(countVisitors(uniteSketches([left, right]))).toBe(countVisitors(all));
      expect(countVisitors(uniteSketches([right, left]))).toBe(countVisitors(all));
    }),
    { numRuns: 50 },
  );
});

it('does not change the sketches that it merges', () => {
  const [few, many] = [sketch(0, 5), sketch(0, 1000)];
  const before = Uint8Array.from(many);
  uniteSketches([few, many, sketch(900, 3000)]);
  expect(many).toEqual(before);
});
