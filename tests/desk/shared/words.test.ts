import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toAgo, toCount, toDuration, toExactTime, toPlural } from '../../../src/desk/shared/words.ts';
import { Day, Hour, Minute, Second } from '../../../src/shared/units.ts';

const NOW = Date.UTC(2026, 10, 21, 20, 31, 7);

describe('times in words', () => {
  it.each([
    [0, 'just now'],
    [4 * Second, 'just now'],
    [59 * Second, '59 s ago'],
    [61 * Second, '1 min ago'],
    [119 * Minute, '1 h ago'],
    [49 * Hour, '2 d ago'],
    [-2 * Hour, 'in 2 h'],
  ])('says of %i ms before: %s', (ms, words) => {
    expect(toAgo(NOW - ms, NOW)).toBe(words);
  });

  it.each([
    [640, '640 ms'],
    [12_400, '12.4 s'],
    [59_999, '1 min'],
    [200 * Second, '3 min 20 s'],
    [2 * Hour, '2 h'],
    [Day + 5 * Hour, '1 d 5 h'],
  ])('says that %i ms are %s', (ms, words) => {
    expect(toDuration(ms)).toBe(words);
  });

  it('shows the exact time in UTC, and accepts invalid times', () => {
    expect(toExactTime(NOW)).toBe('2026-11-21 20:31:07 UTC');
    expect(toExactTime(Number.NaN)).toBe('at an unknown time');
    expect(toExactTime(Number.MAX_VALUE)).toBe('at an unknown time');
  });
});

describe('counts in words', () => {
  it('groups digits as in English', () => {
    fc.assert(fc.property(fc.nat(), (count) => toCount(count) === count.toLocaleString('en-US')));
  });

  it('uses the singular and the plural', () => {
    expect([toPlural(1, 'visitor'), toPlural(0, 'visitor'), toPlural(2000, 'visitor')]).toEqual([
      '1 visitor',
      '0 visitors',
      '2,000 visitors',
    ]);
  });
});
