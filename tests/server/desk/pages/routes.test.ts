import request from 'supertest';
import { expect, it } from 'vitest';
import { presentRoutes } from '../../../../src/server/desk/views/present-routes.ts';
import type { RouteSort } from '../../../../src/shared/desk/shapes.ts';
import { ADA, startDeskSite } from '../../../support/desk-site.ts';

/** Cumulative counts: `[[25, 10], [Infinity, 1]]` are 10 requests of 10 to 25 ms, and one of more than 10 s. */
function bucketsOf(...counts: [upToMs: number, count: number][]): number[] {
  const bounds = [5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2500, 5000, 7500, 10_000, Number.POSITIVE_INFINITY];
  return bounds.map((bound) => counts.reduce((sum, [upTo, count]) => sum + (upTo <= bound ? count : 0), 0));
}

const ROUTES = [
  { route: '/cart', errors: 2, buckets: bucketsOf([25, 98], [500, 2]) },
  { route: '/', errors: 0, buckets: bucketsOf([5, 1000]) },
  { route: '/export', errors: 1, buckets: bucketsOf([Number.POSITIVE_INFINITY, 2]) },
];

it('estimates quantiles as Prometheus does', () => {
  expect(presentRoutes({ routes: ROUTES, hours: [] }, 'route', {}).routes).toEqual([
    { route: '/', requests: 1000, errors: 0, p50: 2.5, p99: 4.95 },
    { route: '/cart', requests: 100, errors: 2, p50: expect.closeTo(17.65), p99: 375 },
    { route: '/export', requests: 2, errors: 1 },
  ]);
});

it.each<[RouteSort, string[]]>([
  ['requests', ['/', '/cart', '/export']],
  ['errors', ['/export', '/cart', '/']],
  ['p50', ['/export', '/cart', '/']],
  ['p99', ['/export', '/cart', '/']],
])('sorts by %s', (sort, expected) => {
  expect(presentRoutes({ routes: ROUTES, hours: [] }, sort, {}).routes.map(({ route }) => route)).toEqual(expected);
});

it('is the same list on the page and in the API, with what this process has counted so far', async () => {
  const hour = Math.floor(Date.now() / 3_600_000) * 3_600_000;
  const slowest = {
    at: hour + 1,
    ms: 812,
    method: 'GET',
    path: '/cart',
    status: 500,
    requestId: 'r1',
    traceId: '0af7651916cd43dd8448eb211c80319c',
    digest: '7K3QM2XA-9F4W0R6B',
    timings: [
      { phase: 'loader' as const, of: 'cart', ms: 700 },
      { phase: 'render' as const, ms: 100 },
    ],
  };
  const rows = ROUTES.map((route) => ({ ...route, hour, slowest: route.route === '/cart' ? slowest : undefined }));
  const site = await startDeskSite({
    links: { trace: 'https://traces.example/{traceId}' },
    flushRoutes: () => site.store.storeRoutes('run', rows),
  });
  const { text } = await site.get('/desk/routes?sort=route', await site.enter());
  expect(text.replaceAll(/<!-- -->/g, '')).toMatch(
    /<code>\/cart<\/code><\/th><td>100<\/td><td [^>]*title="2 with status 5xx">2\.0 %<\/td><td>18 ms<\/td><td>375 ms<\/td>/,
  );
  expect(text).toContain('> 10 s'.replace('>', '&gt;'));
  const reply = await request(site.app).get('/api/desk/routes?sort=route').auth(ADA.token, { type: 'bearer' });
  expect(reply.status).toBe(200);
  expect(reply.body.routes.map(({ route }: { route: string }) => route)).toEqual(['/', '/cart', '/export']);
  const { digest, timings: _timings, ...plain } = slowest;
  expect(reply.body.slowest).toEqual([
    {
      ...plain,
      hour,
      route: '/cart',
      traceLink: 'https://traces.example/0af7651916cd43dd8448eb211c80319c',
      address: digest,
      timings: [
        ['loader of cart', 700],
        ['render', 100],
      ],
    },
  ]);
});
