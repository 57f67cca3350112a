import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isCursor, readCursor, writeCursor } from '../../../../src/server/desk/store/cursor.ts';

it('is read back unchanged, and fits into a URL', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), fc.stringMatching(/^[0-9A-Z]{0,16}$/), (key, id) => {
      const text = writeCursor({ order: 'count', key, id });
      expect(encodeURIComponent(text)).toBe(text);
      expect(readCursor(text, 'count')).toEqual({ order: 'count', key, id });
    }),
  );
});

it('is rejected if it is invalid or has another sort order', () => {
  const text = writeCursor({ order: 'count', key: 1, id: 'A' });
  expect(isCursor(text, 'lastSeen')).toBe(false);
  for (const wrong of [
    '',
    'x',
    text.slice(0, -4),
    Buffer.from('["count",1.5,"A"]').toString('base64url'),
    'A'.repeat(500),
  ]) {
    expect(isCursor(wrong, 'count')).toBe(false);
    expect(() => readCursor(wrong, 'count')).toThrow(RangeError);
  }
  fc.assert(fc.property(fc.string(), (any) => void isCursor(any, 'count')));
});
