import { setTimeout as sleep } from 'node:timers/promises';
import request from 'supertest';
import { describe, expect, it, vi } from 'vitest';
import { PLAIN_PAGE_POLICY } from '../../../src/server/errors/last-resort.ts';
import { createOverload, watchLoopDelay } from '../../../src/server/front/overload.ts';
import { ACTION_ACCEPT } from '../../../src/shared/wire/protocol.ts';
import { createFakePages, createTestApp } from '../../support/app.ts';

/** An app at a level that the test sets. `/admin` is a cached page, `/orders` is rendered for each request. */
function createApp() {
  const count = vi.fn();
  const overload = { level: 0, reason: 'renders' as const };
  const app = createTestApp({
    overload,
    metrics: { count, observeRequest() {} },
    pages: createFakePages({ isRendered: (path) => /^(?:\/_data)?\/orders$/.test(path) }),
    tracker: { home: '/desk', canOpen: () => false, handle: (_req, res) => void res.send('tracker') },
    files: new Map(),
    routes: (req, res, next) => (req.path === '/sitemap.xml' ? void res.send('<urlset/>') : next()),
  });
  return { app, overload, count };
}

const PREFETCH = { Purpose: 'prefetch' };

describe('an overloaded server', () => {
  it.each<[what: string, line: string, refusedFrom: number, headers?: Record<string, string>]>([
    ['a prefetch of page data', 'get /_data/orders', 0.5, PREFETCH],
    ['a prefetch of a page', 'get /orders', 0.5, PREFETCH],
    ["a browser's prefetch of a page", 'get /orders', 0.5, { 'Sec-Purpose': 'prefetch;prerender' }],
    ['a page', 'get /orders', 1],
    ['HEAD of a page', 'head /orders', 1],
    ['page data', 'get /_data/orders', 1],
    ['a form', 'post /orders', 4],
    ['a cached page', 'get /admin', 4],
    ['the API', 'get /api/echo', 4],
    ['a product route', 'get /sitemap.xml', 4],
    ['a page for operators', 'get /desk', Infinity],
    ['health', 'get /livez', Infinity],
    ['readiness', 'get /readyz', Infinity],
    ['an asset, even if it does not exist', 'get /assets/nothing.js', Infinity],
  ])('answers %s until a certain level', async (_what, line, refusedFrom, headers = {}) => {
    const [method, path = ''] = line.split(' ') as ['get' | 'post' | 'head', string];
    const { app, overload, count } = createApp();
    for (const level of [0, 0.49, 0.5, 0.99, 1, 3.9, 4]) {
      overload.level = level;
      count.mockClear();
      const reply = await request(app)[method](path).set(headers);
      expect([level, reply.status === 503]).toEqual([level, level >= refusedFrom]);
      expect(count.mock.calls.filter(([name]) => name === 'spillway_requests_shed_total')).toHaveLength(
        Number(level >= refusedFrom),
      );
      if (level < refusedFrom) continue;
      expect(Number(reply.headers['retry-after'])).toBeGreaterThanOrEqual(3);
      expect(reply.headers).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      });
      expect(reply.headers['content-security-policy']).toMatch(/default-src 'none'/);
    }
  });

  it('sends visitors a small page that reloads itself', async () => {
    const { app, overload } = createApp();
    overload.level = 1;
    const reply = await request(app).get('/orders').set('Accept', 'text/html');
    expect(reply.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': PLAIN_PAGE_POLICY,
      refresh: reply.headers['retry-after'],
    });
    expect(reply.text).toMatch(/<h1>One moment, please<\/h1>/);
    expect(reply.text).toContain('color-scheme:light dark');
    expect(reply.text.length).toBeLessThan(1500);
    const head = await request(app).head('/orders');
    expect([head.headers['content-length'], head.text]).toEqual([reply.headers['content-length'], undefined]);
  });

  it('does not reload after a form was posted, and leaves the body unread', async () => {
    const { app, overload } = createApp();
    overload.level = 4;
    const reply = await request(app).post('/orders').type('form').send({ text: 'typed' });
    expect(reply.headers.refresh).toBeUndefined();
    expect(reply.text).toContain('your form was not processed');
    const background = await request(app).post('/orders').set('Accept', ACTION_ACCEPT).send('a=b');
    expect([background.status, background.body]).toEqual([503, { busy: true }]);
  });
});

describe('overload', () => {
  it.each([
    [0, 0, 0, 0, 'event-loop'],
    [250, 49, 400, 0.5, 'renders'],
    [0, 100, 999, 1, 'pages'],
    [500, 50, 4000, 4, 'event-loop'],
  ])('with a wait of %d ms, %d pages and a loop that is %d ms late is %d', (waitMs, pages, late, level, reason) => {
    const limiter = { waitMs, pages };
    const overload = createOverload({ delayMs: 500, maxPages: 100, limiter, readLoopDelay: () => late });
    expect([overload.level, overload.reason]).toEqual([level, reason]);
  });

  it('measures a block of the event loop after the first request, and forgets it soon', async () => {
    const read = watchLoopDelay(() => undefined);
    const block = async () => {
      await sleep(60);
      const end = performance.now() + 400;
      while (performance.now() < end);
      await sleep(1); // the check is due before it
    };
    await block(); // such as the start of an existing app
    expect(read()).toBe(0);
    await block();
    expect(read()).toBeGreaterThan(200);
    await expect.poll(read).toBeLessThan(100);
  });

  it('takes a pause of the process for a pause, and reports it', async () => {
    const onPause = vi.fn();
    const read = watchLoopDelay(onPause);
    read();
    await sleep(60);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500); // uses no CPU, as a stopped process
    await sleep(1);
    expect(read()).toBeLessThan(500);
    expect(onPause).toHaveBeenCalledExactlyOnceWith(expect.toSatisfy((ms) => ms > 1200 && ms < 5000));
  });
});
