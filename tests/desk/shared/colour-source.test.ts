import fc from 'fast-check';
import { expect, it } from 'vitest';
import { colourSource } from '../../../src/desk/shared/colour-source.ts';

it.each([
  [
    "const a: B = find('a', 1); // why",
    ['const', 'keyword'],
    ["'a'", 'string'],
    ['1', 'literal'],
    ['// why', 'comment'],
  ],
  ['<Page title="x" />', ['<Page', 'tag'], ['"x"', 'string']],
  [' * of the cart\n */\nlet a', [' * of the cart', 'comment'], [' */', 'comment'], ['let', 'keyword']],
])('colours what it can recognize without context: %j', (text, ...expected) => {
  const spans = colourSource(text.split('\n')).flat();
  expect(spans.flatMap((span) => (typeof span === 'string' ? [] : [[span[1], span[0]]]))).toEqual(expected);
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
