import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { colourSource } from '../../../../src/server/desk/views/colour-source.ts';
import type { SpanShape } from '../../../../src/shared/desk/shapes.ts';

const toText = (spans: readonly SpanShape[]) =>
  spans.map((span) => (typeof span === 'string' ? span : span[1])).join('');

describe('colourSource', () => {
  it('colours tokens that it can recognize without context', () => {
    expect(colourSource(["const name: Promise<Cart> = await find('a', 1); // why", '<Page title="x" />'])).toEqual([
      [
        ['keyword', 'const'],
        ' name: Promise<Cart> = ',
        ['keyword', 'await'],
        ' find(',
        ['string', "'a'"],
        ', ',
        ['literal', '1'],
        '); ',
        ['comment', '// why'],
      ],
      [['tag', '<Page'], ' title=', ['string', '"x"'], ' />'],
    ]);
  });

  it('recognizes a comment that started above by its end, and one that ends below by its start', () => {
    expect(colourSource([' * of the cart', ' */', 'let a', '/* b', 'c'])).toEqual([
      [['comment', ' * of the cart']],
      [['comment', ' */']],
      [['keyword', 'let'], ' a'],
      [['comment', '/* b']],
      [['comment', 'c']],
    ]);
  });

  it('does not colour property names as keywords', () => {
    expect(colourSource(['form.delete; ({ new: 1 })'])[0]).toEqual(['form.delete; ({ new: ', ['literal', '1'], ' })']);
  });

  it('keeps every character of any input', () => {
    const line = fc.oneof(
      fc.string(),
      fc
        .array(fc.constantFrom("'", '"', '`', '/', '*', '//', '/*', '*/', '<', 'a', '\\', ' ', '${', '}'))
        .map((all) => all.join('')),
    );
    fc.assert(
      fc.property(
        fc.array(
          line.map((text) => text.replaceAll('\n', '')),
          { minLength: 1, maxLength: 11 },
        ),
        (lines) => {
          expect(colourSource(lines).map(toText)).toEqual(lines);
        },
      ),
    );
  });
});
