import { expect, it } from 'vitest';
import { toAgo, toCount, toDuration, toExactTime, toPlural } from '../../../src/desk/shared/words.ts';
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
