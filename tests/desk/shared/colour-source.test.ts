import fc from 'fast-check';
import { expect, it } from 'vitest';
import { colourSource } from '../../../src/desk/shared/colour-source.ts';

it('keeps every character of any input', () => {
  const line = fc.stringMatching(/^['"`/*<a\\ ${}]*$/);
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 11 }), (given) => {
      const texts = colourSource(given).map((spans) => spans.map((span) => (Array.isArray(span) ? span[1] : span)));
      expect(texts.map((spans) => spans.join(''))).toEqual(given);
    }),
  );
});
