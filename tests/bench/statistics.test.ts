import { expect, it } from 'vitest';
import { median, summarize } from '../../bench/comparison/statistics.mjs';

it('takes the middle of the values, or the mean of the two in the middle', () => {
  expect(median([9, 1, 4])).toBe(4);
  expect(median([9, 1, 4, 6])).toBe(5);
});

// From tables of the sign test: the largest rank whose interval still has 95 %.
it.each([
  [6, 1],
  [8, 1],
  [9, 2],
  [20, 6],
  [25, 8],
])('has the 95 %% interval of the median of %i values from rank %i', (count, rank) => {
  const values = Array.from({ length: count }, (_, index) => count - index);
  const { low, high, is95 } = summarize(values);
  expect([low, high, is95]).toEqual([rank, count + 1 - rank, true]);
});

it('has no interval of fewer than six values, and takes the lowest and the highest', () => {
  expect(summarize([3, 1, 2, 5, 4])).toEqual({ median: 3, low: 1, high: 5, is95: false });
});
