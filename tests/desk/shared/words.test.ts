import { expect, it } from 'vitest';
import type { OccurrenceShape } from '../../../src/desk/shared/shapes.ts';
import { toHint } from '../../../src/desk/shared/words.ts';

it.each([
  [['div', 'StockChip', 'p', 'main'], '<div> cannot be in <p>'],
  [['span', 'a', 'Card', 'div', 'a', 'main'], '<a> cannot be in <a>'],
  [['td', 'tr', 'Row', 'table'], '<tr> cannot be in <table>'],
  [['div', 'button', 'p', 'main'], undefined],
  [['tr', 'tbody', 'table', 'div'], undefined],
  [['span', 'p', 'div'], undefined],
])('advises on the nesting of elements that failed to hydrate: %j', (names, expected) => {
  const components = names.map((name) => ({ name, place: /^[A-Z]/.test(name) ? 'a.tsx:1' : '', isProduct: true }));
  const shown = { full: { components } } as unknown as OccurrenceShape;
  const hint = toHint({ kind: 'hydration', title: 'Error: Minified React error #418', shown });
  expect(hint?.slice(0, expected?.length)).toBe(expected);
});
