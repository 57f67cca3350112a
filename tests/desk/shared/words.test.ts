import { expect, it } from 'vitest';
import type { OccurrenceShape } from '../../../src/desk/shared/shapes.ts';
import { toAgo, toCount, toDuration, toExactTime, toHint, toPlural } from '../../../src/desk/shared/words.ts';
import { Day, Hour, Minute, Second } from '../../../src/shared/units.ts';

const NOW = Date.UTC(2026, 10, 21, 20, 31, 7);

it.each([
  [toAgo(NOW - 4 * Second, NOW), 'just now'],
  [toAgo(NOW - 59 * Second, NOW), '59 s ago'],
  [toAgo(NOW - 61 * Second, NOW), '1 min ago'],
  [toAgo(NOW - 119 * Minute, NOW), '1 h ago'],
  [toAgo(NOW - 49 * Hour, NOW), '2 d ago'],
  [toAgo(NOW + 2 * Hour, NOW), 'in 2 h'],
  [toDuration(640), '640 ms'],
  [toDuration(12_400), '12.4 s'],
  [toDuration(59_999), '1 min'],
  [toDuration(200 * Second), '3 min 20 s'],
  [toDuration(2 * Hour), '2 h'],
  [toDuration(Day + 5 * Hour), '1 d 5 h'],
  [toExactTime(NOW), '2026-11-21 20:31:07 UTC'],
  [toExactTime(Number.NaN), 'at an unknown time'],
  [toExactTime(Number.MAX_VALUE), 'at an unknown time'],
  [toCount(1_234_567), '1,234,567'],
  [toPlural(1, 'visitor'), '1 visitor'],
  [toPlural(2000, 'visitor'), '2,000 visitors'],
])('says %j', (words, expected) => {
  expect(words).toBe(expected);
});

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
