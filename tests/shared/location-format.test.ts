import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeVlq, encodeVlq } from '../../src/shared/location-format.mjs';

it('numbers are decoded as they were encoded', () => {
  const numbers = fc.array(fc.integer({ min: -(2 ** 29), max: 2 ** 29 }));
  fc.assert(
    fc.property(numbers, (some) => {
      expect(decodeVlq(some.map(encodeVlq).join(''))).toEqual(some);
    }),
  );
});

it('numbers are spelled as in source maps', () => {
  expect([0, 1, -1, 16, 1000].map(encodeVlq)).toEqual(['A', 'C', 'D', 'gB', 'w+B']);
});
