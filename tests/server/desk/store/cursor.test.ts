import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isCursor, readCursor, writeCursor } from '../../../../src/server/desk/store/cursor.ts';

it('is read back unchanged, and fits into a URL', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.stringMatching(/^[0-9A-Z]{1,16}$/), (value, id) => {
      const text = writeCursor({ order: 'count', value, id });
      expect(encodeURIComponent(text)).toBe(text);
      expect(readCursor(text, 'count')).toEqual({ order: 'count', value, id });
    }),
  );
});

it('is rejected if it is invalid or has another sort order', () => {
  const text = writeCursor({ order: 'count', value: 1, id: 'A' });
  expect(isCursor(text, 'lastSeen')).toBe(false);
  for (const wrong of ['', 'x', 'count.-1.A', 'count..A', 'count.1.', `count.1.${'A'.repeat(500)}`]) {
    expect(isCursor(wrong, 'count')).toBe(false);
    expect(() => readCursor(wrong, 'count')).toThrow(RangeError);
  }
  fc.assert(fc.property(fc.string(), (any) => void isCursor(any, 'count')));
});
