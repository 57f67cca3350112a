import { expect, it } from 'vitest';
import { drawRandom } from '../../../../src/server/engine/request/random.ts';

it('returns the requested number of bytes, and never the same ones', () => {
  const drawn = Array.from({ length: 2000 }, (_, index) => drawRandom(index % 2 ? 16 : 7, 'hex'));
  expect(drawn.every((text, index) => text.length === (index % 2 ? 32 : 14))).toBe(true);
  expect(new Set(drawn).size).toBe(drawn.length);
  expect(drawRandom(16, 'base64')).toMatch(/^[A-Za-z0-9+/]{22}==$/);
});
