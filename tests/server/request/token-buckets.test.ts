import { expect, it } from 'vitest';
import { createTokenBuckets } from '../../../src/server/request/token-buckets.ts';

it('token buckets are limited in number: the sender that was idle longest starts again', () => {
  const buckets = createTokenBuckets({ burst: 1, perSecond: 0.001 }, 3);
  const taken = ['a', 'b', 'c', 'a', 'd', 'a', 'b'].map((key) => buckets.take(key) === 0);
  expect(taken).toEqual([true, true, true, false, true, false, true]);
});
