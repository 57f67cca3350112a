import request from 'supertest';
import { expect, it } from 'vitest';
import { metricsPage } from '../../../../src/server/engine/monitoring/fixed-paths.ts';
import type { MayRead } from '../../../../src/server/engine/monitoring/may-read.ts';
import { createMetrics } from '../../../../src/server/engine/monitoring/metrics.ts';
import { createTestApp, spyOnLog, type TestAppOptions } from '../../../support/app.ts';

function createApp(mayRead: MayRead, options: TestAppOptions = {}) {
  const metrics = createMetrics({ build: 'b', release: 'r' });
  return createTestApp({ metrics, metricsPage: metricsPage({ metrics, mayRead }), ...options });
}

it('shows the metrics to authorized callers for any host, without an access log line', async () => {
  const { log, lines } = spyOnLog();
  const app = createApp(async () => true, { publicOrigins: ['https://example.com'], log });
  await request(app).get('/orders?token=secret').set('Host', 'example.com');
  const reply = await request(app).get('/metrics').set('Host', '10.0.0.7:3000');
  expect(reply.status).toBe(200);
  expect(reply.headers).toMatchObject({
    'content-type': 'text/plain; version=0.0.4; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  expect(reply.text).toContain('http_route="/orders",http_response_status_class="2xx"} 1');
  expect(reply.text).not.toContain('secret');
  expect(lines.filter(({ path, level }) => path === '/metrics' && Number(level) >= 30)).toEqual([]);
  expect((await request(app).head('/metrics')).headers['content-length']).toBeDefined();
});

it('rejects all other callers', async () => {
  const reply = await request(createApp(async () => false)).get('/metrics');
  expect([reply.status, reply.headers['www-authenticate']]).toEqual([401, 'Bearer']);
  expect(reply.text).not.toContain('spillway_');
  const late = await request(createApp(async () => ({ waitMs: 5500 }))).get('/metrics');
  expect([late.status, late.headers['retry-after']]).toEqual([429, '6']);
});

it('allows only GET and HEAD', async () => {
  const reply = await request(createApp(async () => true)).post('/metrics');
  expect([reply.status, reply.headers.allow]).toEqual([405, 'GET, HEAD']);
});

it('does not exist on the site if it has a separate listener', async () => {
  expect((await request(createTestApp()).get('/metrics')).status).toBe(404);
});

it.each(['/metrics/', '/metrics/x', '/METRICS', '//metrics', '/x/../metrics'])(
  'treats %s like any other path',
  async (path) => {
    const reply = await request(createApp(async () => true)).get(path);
    expect(reply.text).not.toContain('spillway_');
  },
);
