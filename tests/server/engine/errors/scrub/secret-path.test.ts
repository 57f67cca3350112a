import { describe, expect, it } from 'vitest';
import {
  createPathScrubber,
  hidePathSecrets,
  listPathPatterns,
  listPathSecrets,
} from '../../../../../src/server/engine/errors/scrub/secret-path.ts';
import { createScrubber } from '../../../../../src/server/engine/errors/scrub.ts';

const scrubber = createScrubber();

describe('parameters named like a secret', () => {
  it.each([
    ['/reset/abc', '/reset/:token', '/reset/[redacted]'],
    ['/reset/abc?page=2', '/reset/:token', '/reset/[redacted]?page=2'],
    ['/users/7/keys/abc/use', '/users/:id/keys/:accessKey/use', '/users/7/keys/[redacted]/use'],
    ['/_data/reset/abc', '/reset/:token', '/_data/reset/[redacted]'],
    ['/reset/abc', '/reset/:token?', '/reset/[redacted]'],
    ['/reset', '/reset/:token?', '/reset'],
    ['/orders/abc', '/orders/:id', '/orders/abc'],
    ['/orders/abc', undefined, '/orders/abc'],
  ])('are redacted in %s', (url, route, expected) => {
    expect(hidePathSecrets(url, route, scrubber)).toBe(expected);
  });

  it('are known by their values, encoded and decoded', () => {
    expect(listPathSecrets('/reset/a%20b', '/reset/:token', scrubber)).toEqual(['a%20b', 'a b']);
    expect(listPathSecrets('/reset/%', '/reset/:token', scrubber)).toEqual(['%', '%']);
    expect(listPathSecrets('/orders/7', '/orders/:id', scrubber)).toEqual([]);
  });
});

it('redacts secrets in a path by pattern and by value, every time', () => {
  const scrubPath = createPathScrubber(createScrubber({ literals: ['known-secret'] }));
  for (let time = 0; time < 2; time += 1) {
    expect(scrubPath('/a/known-secret', undefined)).toBe('/a/[redacted]');
    expect(scrubPath('/unsubscribe/ann@example.com', '/unsubscribe/:who')).toBe('/unsubscribe/[redacted]');
    expect(scrubPath('/reset/abc', '/reset/:token')).toBe('/reset/[redacted]');
    expect(scrubPath('/reset/abc', undefined)).toBe('/reset/abc');
  }
  for (let number = 0; number < 3000; number += 1) expect(scrubPath(`/orders/${number}`, '')).toBe(`/orders/${number}`);
});

it('finds such parameters in every URL of a page', () => {
  const routes = ['/reset/:token', '/users/:id/keys/:accessKey/use', '/:secret', '/orders/:id'];
  const patterns = listPathPatterns(routes, scrubber);
  expect(patterns).toHaveLength(2);
  const own = createScrubber({ patterns });
  for (const [text, expected] of [
    ['GET https://a.example/reset/abc?page=2', 'GET https://a.example/reset/[redacted]?page=2'],
    ['from "/reset/abc" to /reset/d%20e/f', 'from "/reset/[redacted]" to /reset/[redacted]/f'],
    ['/users/7/keys/abc/use', '/users/7/keys/[redacted]/use'],
    [`/a?next=${encodeURIComponent('/reset/abc')}`, `/a?next=${encodeURIComponent('/reset/')}[redacted]`],
    ['/orders/abc and /preset/abc', '/orders/abc and /preset/abc'],
  ] as const) {
    expect(own.text(text)).toBe(expected);
  }
});

it('takes no longer for text that is crafted to be slow', () => {
  const own = createScrubber({ patterns: listPathPatterns(['/users/:id/keys/:accessKey'], scrubber) });
  const times = ['/users/', '/users/a/keys', 'a', '/'].map((part) => {
    const text = part.repeat(16_000 / part.length);
    const start = performance.now();
    own.text(text);
    return performance.now() - start;
  });
  expect(Math.max(...times)).toBeLessThan(500);
});
