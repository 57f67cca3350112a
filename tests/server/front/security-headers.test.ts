import request from 'supertest';
import { expect, it } from 'vitest';
import { createTestApp } from '../../support/app.ts';

it('let no other site embed or open pages, and turn off what they do not need', async () => {
  const { headers } = await request(createTestApp()).get('/');
  expect(headers).toMatchObject({
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'strict-origin-when-cross-origin',
    'permissions-policy': expect.stringContaining('camera=()'),
  });
});

it.each([
  ['/', ['https://example.com'], true, true],
  ['/', ['http://example.com'], false, false],
  // HSTS is in every response if all origins use https, and otherwise only once the host is known.
  ['/livez', ['https://example.com', 'https://example.org'], true, false],
  ['/livez', ['https://example.com', 'http://example.org'], false, false],
  ['/livez', [], false, false],
])('at %s of %j include those for TLS', async (path, publicOrigins, hasHsts, hasEndpoints) => {
  const app = createTestApp({ publicOrigins, reportPath: '/_report/browser' });
  const { headers } = await request(app).get(path).set('Host', 'example.com').expect(200);
  expect(headers['strict-transport-security']?.startsWith('max-age=31536000')).toBe(hasHsts || undefined);
  expect(headers['reporting-endpoints']).toBe(hasEndpoints ? 'default="/_report/browser"' : undefined);
});
