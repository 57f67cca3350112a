import fc from 'fast-check';
import { expect, it } from 'vitest';
import { colourSource } from '../../../src/desk/shared/colour-source.ts';

it('colours what it can recognize without context', () => {
  const lines = [' * of the cart', ' */', "const a: B = find('a', 1); // why", '<Page title="x" />'];
  const spans = colourSource(lines).map((line) => line.flatMap((span) => (typeof span === 'string' ? [] : [span[0]])));
  expect(spans).toEqual([['comment'], ['comment'], ['keyword', 'string', 'literal', 'comment'], ['tag', 'string']]);
});

it('keeps every character of any input', () => {
  const line = fc.stringMatching(/^['"`/*<a\\ ${}]*$/);
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 11 }), (given) => {
      const texts = colourSource(given).map((spans) => spans.map((span) => (Array.isArray(span) ? span[1] : span)));
      expect(texts.map((spans) => spans.join(''))).toEqual(given);
    }),
  );
});
