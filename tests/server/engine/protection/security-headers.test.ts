import express from 'express';
import helmet from 'helmet';
import request from 'supertest';
import { expect, it } from 'vitest';
import { createTestApp } from '../../../support/app.ts';

it("are the same as helmet's, except for those that Spillway sets differently", async () => {
  const app = express()
    .use(helmet())
    .get('/', (_req, res) => void res.send('x'));
  const theirs = (await request(app).get('/')).headers;
  const ours = (await request(createTestApp()).get('/')).headers;
  const decided = new Set([
    'content-security-policy',
    'strict-transport-security',
    'referrer-policy',
    'x-frame-options',
  ]);
  const plain = new Set(['date', 'connection', 'etag', 'content-length', 'content-type', 'keep-alive', 'x-powered-by']);
  for (const [name, value] of Object.entries(theirs)) {
    if (!decided.has(name) && !plain.has(name)) expect([name, ours[name]]).toEqual([name, value]);
  }
  expect(ours['referrer-policy']).toBe('strict-origin-when-cross-origin');
  expect(ours['permissions-policy']).toContain('camera=()');
});

it('are fewer under /api, where the policy forbids everything', async () => {
  const app = createTestApp({ api: [(_req, res) => void res.json({})] });
  const { headers } = await request(app).get('/api/x');
  const names = Object.keys(headers).filter((name) =>
    /^(?:content-security|cross-origin|permissions|referrer|origin|x-)/.test(name),
  );
  expect(names.sort()).toEqual([
    'content-security-policy',
    'cross-origin-resource-policy',
    'x-content-type-options',
    'x-request-id',
  ]);
  expect(headers['content-security-policy']).toBe("default-src 'none'; frame-ancestors 'none'");
});

it('are complete over TLS, and omit TLS-only headers over plain HTTP', async () => {
  const ask = async (publicOrigins: readonly string[]) =>
    (
      await request(createTestApp({ publicOrigins, reportPath: '/_report/browser' }))
        .get('/')
        .set('Host', 'example.com')
    ).headers;
  const secure = await ask(['https://example.com']);
  expect(secure['strict-transport-security']).toMatch(/^max-age=31536000/);
  expect(secure['reporting-endpoints']).toBe('default="/_report/browser"');
  const plain = await ask(['http://example.com']);
  expect([plain['strict-transport-security'], plain['reporting-endpoints']]).toEqual([undefined, undefined]);
});

it('include HSTS in every response if all origins use https, and otherwise only once the host is known', async () => {
  const ask = async (publicOrigins: readonly string[]) =>
    (await request(createTestApp({ publicOrigins })).get('/livez')).headers['strict-transport-security'];
  expect(await ask(['https://example.com', 'https://example.org'])).toMatch(/^max-age=31536000/);
  expect(await ask(['https://example.com', 'http://example.org'])).toBeUndefined();
  expect(await ask([])).toBeUndefined();
});
