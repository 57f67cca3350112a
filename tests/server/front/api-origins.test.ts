import express from 'express';
import request from 'supertest';
import { expect, it } from 'vitest';
import type { ApiOrigins } from '../../../src/server/front/api-origins.ts';
import { createTestApp } from '../../support/app.ts';

const THEIRS = 'https://app.example.com';
const FROM_THEIRS = { Origin: THEIRS, 'Sec-Fetch-Site': 'cross-site' };

const preflight = (apiOrigins: ApiOrigins, path = '/api/echo', origin = THEIRS) =>
  request(createTestApp({ apiOrigins })).options(path).set({
    Origin: origin,
    'Access-Control-Request-Method': 'POST',
    'Access-Control-Request-Headers': 'authorization,content-type',
  });

it.each<[ApiOrigins, origin: string, allowed: string]>([
  [[THEIRS], THEIRS, THEIRS],
  [['capacitor://localhost'], 'capacitor://localhost', 'capacitor://localhost'],
  ['*', THEIRS, '*'],
])('a preflight is answered if apiOrigins is %j', async (apiOrigins, origin, allowed) => {
  const reply = await preflight(apiOrigins, '/api/echo', origin).expect(204);
  expect(reply.headers).toMatchObject({
    'access-control-allow-origin': allowed,
    'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
    'access-control-allow-headers': 'authorization,content-type',
    'access-control-max-age': '7200',
    'cache-control': 'no-store',
  });
  expect(reply.headers['access-control-allow-credentials']).toBeUndefined();
  expect(reply.headers.vary).toBe(allowed === '*' ? undefined : 'Origin');
});

it.each<[string, ApiOrigins, string, string]>([
  ['without apiOrigins', [], '/api/echo', THEIRS],
  ['from another origin', [THEIRS], '/api/echo', 'https://evil.example'],
  ['from the opaque origin', [THEIRS], '/api/echo', 'null'],
  ['for a page', '*', '/admin', THEIRS],
  ['for page data', '*', '/_data/admin', THEIRS],
  ['for the API of the desk', '*', '/api/desk/incidents', THEIRS],
])('a preflight, %s, is not allowed', async (_, apiOrigins, path, origin) => {
  const { headers } = await preflight(apiOrigins, path, origin);
  expect(headers['access-control-allow-origin']).toBeUndefined();
  if (origin !== THEIRS) expect(headers.vary).toContain('Origin');
});

it('leaves paths below /api that the product cannot answer to an existing app', async () => {
  const allowed = { 'Access-Control-Allow-Origin': THEIRS, 'Access-Control-Allow-Credentials': 'true' };
  const app = express().options('/api/old', (_req, res) => void res.set(allowed).sendStatus(200));
  const existing = { apiOrigins: [THEIRS], existingApp: { app } };
  const asked = { Origin: THEIRS, 'Access-Control-Request-Method': 'POST' };
  const old = await request(createTestApp({ ...existing, api: [] }))
    .options('/api/old')
    .set(asked)
    .expect(200);
  expect(old.headers).toMatchObject({ 'access-control-allow-credentials': 'true' });
  expect(old.headers['access-control-expose-headers']).toBeUndefined();
  await request(createTestApp(existing)).options('/api/echo').set(asked).expect(204);
});

it('lets scripts of the origin read responses and problems, and tells caches that they depend on it', async () => {
  const app = createTestApp({ apiOrigins: [THEIRS], compression: true });
  for (const [path, status] of [
    ['/api/echo', 200],
    ['/api/fail', 500],
    ['/api/nowhere', 404],
  ] as const) {
    const { headers } = await request(app).get(path).set(FROM_THEIRS).expect(status);
    expect(headers).toMatchObject({ 'access-control-allow-origin': THEIRS, 'access-control-expose-headers': '*' });
    expect(headers.vary).toContain('Origin');
  }
  expect((await request(app).get('/api/echo')).headers.vary).toContain('Origin');
});

it.each([
  ['without credentials', {}, 200],
  ['with a token', { Authorization: 'Bearer x' }, 200],
  ['with a token and cookies', { Authorization: 'Bearer x', Cookie: 'session=1' }, 200],
  ['with cookies', { Cookie: 'session=1' }, 403],
  ['with saved Basic credentials', { Authorization: 'Basic eDp5' }, 403],
  ['with Negotiate credentials', { Authorization: 'negotiate abc' }, 403],
])('a post to the API from another site, %s, gets %s', async (_, headers, status) => {
  await request(createTestApp())
    .post('/api/echo')
    .set({ ...FROM_THEIRS, ...headers })
    .send({ a: 1 })
    .expect(status);
});
