import { expect, it } from 'vitest';
import { createTokenBuckets } from '../../../src/server/request/token-buckets.ts';
import { Hour } from '../../../src/shared/units.ts';

it('token buckets allow a burst, then the configured rate', () => {
  const time = { at: 0, now: () => time.at };
  const buckets = createTokenBuckets({ burst: 3, perSecond: 2 }, { now: time.now });
  const take = (times: number) => Array.from({ length: times }, () => buckets.take('a'));
  expect(take(4)).toEqual([0, 0, 0, 500]);
  time.at = 500;
  expect(take(2)).toEqual([0, 500]);
  time.at = Hour;
  expect(take(4)).toEqual([0, 0, 0, 500]);
});

it('token buckets are limited in number: the sender that was idle longest starts again', () => {
  const buckets = createTokenBuckets({ burst: 1, perSecond: 0.001 }, { now: () => 0, maxBuckets: 3 });
  const taken = ['a', 'b', 'c', 'a', 'd', 'a', 'b'].map((key) => buckets.take(key) === 0);
  expect(taken).toEqual([true, true, true, false, true, false, true]);
});
