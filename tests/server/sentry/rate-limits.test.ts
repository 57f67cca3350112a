import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createRateLimits, readRateLimits } from '../../../src/server/sentry/rate-limits.ts';
import { Day, Minute, Second } from '../../../src/shared/units.ts';

it.each([
  [
    200,
    '60:error;default:organization:quota',
    undefined,
    [
      ['error', 60 * Second],
      ['default', 60 * Second],
    ],
  ],
  [
    429,
    '60:error:org, 2700::organization',
    '5',
    [
      ['error', 60 * Second],
      ['', 2700 * Second],
    ],
  ],
  [200, '1.5:replay', undefined, [['replay', 1.5 * Second]]],
  [429, undefined, '7', [['', 7 * Second]]],
  [429, undefined, undefined, [['', Minute]]],
  [429, 'nonsense', 'nonsense', [['', Minute]]],
  [503, undefined, '7', []],
  [200, undefined, undefined, []],
  [200, '-1:error, x:error, 5:er ror', undefined, []],
  [429, undefined, '999999999', [['', Day]]],
  [429, undefined, 'Thu, 01 Jan 1970 00:00:00 GMT', [['', 0]]],
] as const)('%s with %j and %j', (status, rateLimits, retryAfter, expected) => {
  const limits = readRateLimits(status, { rateLimits, retryAfter });
  expect(limits.map(({ category, forMs }) => [category, forMs])).toEqual(expected);
});

it('parses any input', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (rateLimits, retryAfter) => {
      for (const { forMs } of readRateLimits(429, { rateLimits, retryAfter })) {
        expect(forMs).toBeGreaterThanOrEqual(0);
        expect(forMs).toBeLessThanOrEqual(Day);
      }
    }),
  );
});

it('keeps the longest limit until it expires', () => {
  let now = 0;
  const limits = createRateLimits(() => now);
  expect(limits.header()).toBeUndefined();
  limits.take([{ category: 'error', forMs: 10 * Second }]);
  limits.take([
    { category: 'error', forMs: 5 * Second },
    { category: '', forMs: 1500 },
  ]);
  expect(limits.remaining('error')).toBe(10 * Second);
  expect(limits.remaining('transaction')).toBe(0);
  expect(limits.header()).toBe('10:error:organization, 2::organization');
  now = 2 * Second;
  expect(limits.header()).toBe('8:error:organization');
  now = 10 * Second;
  expect(limits.remaining('error')).toBe(0);
  expect(limits.header()).toBeUndefined();
});
