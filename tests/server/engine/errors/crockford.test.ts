import fc from 'fast-check';
import { expect, it } from 'vitest';
import { toCrockford } from '../../../../src/server/engine/errors/crockford.ts';

it('spells 40 bits in eight characters, each in one way', () => {
  expect(toCrockford(new Uint8Array(5))).toBe('00000000');
  expect(toCrockford(new Uint8Array(5).fill(255))).toBe('ZZZZZZZZ');
  expect(toCrockford(Uint8Array.of(0, 0, 0, 0, 33))).toBe('00000011');
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 5, maxLength: 5 }),
      fc.uint8Array({ minLength: 5, maxLength: 5 }),
      (left, right) => {
        expect(toCrockford(left)).toMatch(/^[0-9A-HJKMNP-TV-Z]{8}$/);
        expect(toCrockford(left) === toCrockford(right)).toBe(Buffer.compare(left, right) === 0);
      },
    ),
  );
});
