import request from 'supertest';
import { expect, it } from 'vitest';
import type { CheckToken } from '../../../src/server/front/check-token.ts';
import { metricsPage } from '../../../src/server/front/fixed-paths.ts';
import { createMetrics } from '../../../src/server/front/metrics.ts';
import { createTestApp, spyOnLog, type TestAppOptions } from '../../support/app.ts';

function createApp(checkToken: CheckToken | undefined, options: TestAppOptions = {}) {
  const metrics = createMetrics({ build: 'b', release: 'r' });
  return createTestApp({ metrics, fixed: [metricsPage(metrics, checkToken)], ...options });
}

it('shows the metrics to authorized callers for any host, without an access log line', async () => {
  const { log, lines } = spyOnLog();
  const app = createApp(undefined, { publicOrigins: ['https://example.com'], log });
  await request(app).get('/orders?token=secret').set('Host', 'example.com');
  const reply = await request(app).get('/metrics').set('Host', '10.0.0.7:3000').expect(200);
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

it.each<[string, line: string, app: ReturnType<typeof createTestApp>, status: number, headers?: object]>([
  ['others', 'get /metrics', createApp(() => ({ kind: 'wrong' })), 401, { 'www-authenticate': 'Bearer' }],
  [
    'callers who tried too often',
    'get /metrics',
    createApp(() => ({ kind: 'too-many', waitMs: 5500 })),
    429,
    { 'retry-after': '6' },
  ],
  ['a post', 'post /metrics', createApp(undefined), 405, { allow: 'GET, HEAD' }],
  ['a site with a separate listener', 'get /metrics', createTestApp(), 404],
  ['a path with a slash', 'get /metrics/', createApp(undefined), 404],
  ['another case', 'get /METRICS', createApp(undefined), 404],
  ['another spelling', 'get //metrics', createApp(undefined), 400],
])('does not show them to %s: %s', async (_name, line, app, status, headers = {}) => {
  const [verb, path = ''] = line.split(' ') as ['get' | 'post', string];
  const reply = await request(app)[verb](path).set('Authorization', 'Bearer guess').expect(status);
  expect(reply.headers).toMatchObject(headers);
  expect(reply.text).not.toContain('spillway_');
});
