import request from 'supertest';
import { expect, it, vi } from 'vitest';
import { PLAIN_PAGE_POLICY } from '../../../../src/server/engine/errors/last-resort.ts';
import type { Level } from '../../../../src/server/engine/protection/overload.ts';
import { ACTION_ACCEPT } from '../../../../src/shared/engine/wire/protocol.ts';
import { createFakePages, createTestApp } from '../../../support/app.ts';

/** An app at a level that the test sets. `/admin` is a cached page, `/orders` is rendered for each request. */
function createApp(first: Level = 0) {
  const count = vi.fn();
  const overload = { level: first, reason: 'renders' as const, take() {} };
  const app = createTestApp({
    overload,
    metrics: { count, observeRequest() {} },
    pages: createFakePages({ isRendered: (path) => /^(?:\/_data)?\/orders$/.test(path) }),
    operators: {
      covers: (path) => path === '/operators',
      step: (req, res, next) => (req.path === '/operators' ? void res.send('operators') : next()),
      knowOperator: (_req, _res, next) => next(),
    },
    files: new Map(),
    routes: (req, res, next) => (req.path === '/sitemap.xml' ? void res.send('<urlset/>') : next()),
  });
  return { app, overload, count };
}

const NEVER = 4;

it.each<[string, line: string, refusedFrom: number, what?: string, headers?: Record<string, string>]>([
  ['a prefetch of page data', 'get /_data/orders', 1, 'prefetch', { Purpose: 'prefetch' }],
  ['a prefetch of a page', 'get /orders', 1, 'prefetch', { Purpose: 'prefetch' }],
  ['a page', 'get /orders', 2, 'page'],
  ['HEAD of a page', 'head /orders', 2, 'page'],
  ['page data', 'get /_data/orders', 2, 'data'],
  ['a form', 'post /orders', 3],
  ['a cached page', 'get /admin', 3],
  ['the API', 'get /api/echo', 3],
  ['a product route', 'get /sitemap.xml', 3],
  ['a page for operators', 'get /operators', NEVER],
  ['health', 'get /livez', NEVER],
  ['readiness', 'get /readyz', NEVER],
  ['an asset, even if it does not exist', 'get /assets/nothing.js', NEVER],
])('an overloaded server answers %s until a certain level', async (_name, line, refusedFrom, what, headers = {}) => {
  const { app, overload, count } = createApp();
  const [verb, path = ''] = line.split(' ') as ['get' | 'head' | 'post', string];
  for (const level of [0, 1, 2, 3] as const) {
    overload.level = level;
    count.mockClear();
    const reply = await request(app)[verb](path).set(headers);
    const isRefused = level >= refusedFrom;
    expect([level, reply.status === 503]).toEqual([level, isRefused]);
    const labels = count.mock.calls.flatMap(([name, of]) => (name === 'spillway_requests_shed_total' ? [of] : []));
    expect(labels).toMatchObject(isRefused ? [{ reason: 'renders', ...(what && { what }) }] : []);
    if (!isRefused) continue;
    expect(Number(reply.headers['retry-after'])).toBeGreaterThanOrEqual(3);
    expect(reply.headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    });
  }
});

it('an overloaded server sends visitors a small page that reloads itself', async () => {
  const { app } = createApp(2);
  const reply = await request(app).get('/orders').set('Accept', 'text/html');
  expect(reply.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': PLAIN_PAGE_POLICY,
    refresh: reply.headers['retry-after'],
  });
  expect(reply.text).toContain('<h1>One moment, please</h1>');
  expect(reply.text.length).toBeLessThan(1500);
  const head = await request(app).head('/orders');
  expect([head.headers['content-length'], head.text]).toEqual([reply.headers['content-length'], undefined]);
});

it('an overloaded server does not reload after a form was posted, and answers scripts with JSON', async () => {
  const { app } = createApp(3);
  const form = await request(app).post('/orders').type('form').send({ text: 'typed' });
  expect(form.headers.refresh).toBeUndefined();
  expect(form.text).toContain('your form was not processed');
  const background = await request(app).post('/orders').set('Accept', ACTION_ACCEPT).send('a=b');
  expect([background.status, background.body]).toEqual([503, { busy: true }]);
  expect((await request(app).get('/_data/orders')).body).toEqual({ busy: true });
  const problem = { type: 'application/problem+json', body: { status: 503, title: 'Service Unavailable' } };
  expect(await request(app).get('/api/echo')).toMatchObject(problem);
});
