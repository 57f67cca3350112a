import express from 'express';
import helmet from 'helmet';
import request from 'supertest';
import { expect, it } from 'vitest';
import { createTestApp } from '../../support/app.ts';

it("are the same as helmet's, except for those that Spillway sets differently", async () => {
  const app = express()
    .use(helmet())
    .get('/', (_req, res) => void res.send('x'));
  const { headers: theirs } = await request(app).get('/');
  const { headers: ours } = await request(createTestApp()).get('/');
  const decided = /^(?:content-security-policy|strict-transport-security|referrer-policy|x-frame-options)$/;
  const plain = /^(?:date|connection|etag|content-length|content-type|keep-alive|x-powered-by)$/;
  const same = Object.entries(theirs).filter(([name]) => !decided.test(name) && !plain.test(name));
  expect(same.length).toBeGreaterThan(5);
  expect(ours).toMatchObject({
    ...Object.fromEntries(same),
    'referrer-policy': 'strict-origin-when-cross-origin',
    'permissions-policy': expect.stringContaining('camera=()'),
  });
});

it.each<[path: string, publicOrigins: string[], hasHsts: boolean, hasEndpoints: boolean]>([
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
