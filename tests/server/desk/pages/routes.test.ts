import request from 'supertest';
import { expect, it } from 'vitest';
import { presentRoute, sortRoutes } from '../../../../src/server/desk/views/read-routes.ts';
import type { RouteSort } from '../../../../src/shared/desk/shapes.ts';
import { Hour } from '../../../../src/shared/units.ts';
import { startDeskSite } from '../../../support/desk-site.ts';
import { ADA } from '../../../support/people.ts';

/** Cumulative counts: `[25, 10], [Infinity, 1]` are 10 requests of 10 to 25 ms, and one of more than 10 s. */
function bucketsOf(...counts: [upToMs: number, count: number][]): number[] {
  const bounds = [5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2500, 5000, 7500, 10_000, Number.POSITIVE_INFINITY];
  return bounds.map((bound) => counts.reduce((sum, [upTo, count]) => sum + (upTo <= bound ? count : 0), 0));
}

const ROUTES = [
  { route: '/cart', errors: 2, buckets: bucketsOf([25, 98], [500, 2]) },
  { route: '/', errors: 0, buckets: bucketsOf([5, 1000]) },
  { route: '/export', errors: 1, buckets: bucketsOf([Number.POSITIVE_INFINITY, 2]) },
];
const PRESENTED = ROUTES.map(({ route, ...totals }) => presentRoute([route, totals]));

it('estimates quantiles as Prometheus does', () => {
  expect(PRESENTED).toEqual([
    { route: '/cart', requests: 100, errors: 0.02, p50: expect.closeTo(17.65), p99: 375 },
    { route: '/', requests: 1000, errors: 0, p50: 2.5, p99: 4.95 },
    { route: '/export', requests: 2, errors: 0.5 },
  ]);
});

it.each<[RouteSort, string[]]>([
  ['route', ['/', '/cart', '/export']],
  ['requests', ['/', '/cart', '/export']],
  ['errors', ['/export', '/cart', '/']],
  ['p50', ['/export', '/cart', '/']],
  ['p99', ['/export', '/cart', '/']],
])('sorts by %s', (sort, expected) => {
  expect(sortRoutes(PRESENTED, sort).map(({ route }) => route)).toEqual(expected);
});

it('is the same on the page and in the API, with what this process has counted so far', async () => {
  const hour = Math.floor(Date.now() / Hour) * Hour;
  const slowest = {
    at: hour + 1,
    ms: 812,
    method: 'GET',
    route: '/cart',
    path: '/cart',
    status: 500,
    requestId: 'r1',
    address: '7K3QM2XA-9F4W0R6B',
    timings: [['loader of cart', 700] as const, ['render', 100] as const],
  };
  const rows = ROUTES.map((row) => ({ ...row, hour, slowest: row.route === '/cart' ? slowest : undefined }));
  const site = await startDeskSite({ flushRoutes: () => site.store.storeRoutes('run', rows) });
  const { text } = await site.get('/desk/routes?sort=route', await site.enter());
  expect(text).toMatch(
    /<code>\/cart<\/code><\/th><td>100<\/td><td class="[^"]+">2\.0 %<\/td><td>18 ms<\/td><td>375 ms<\/td>/,
  );
  expect(text).toContain('<td>&gt; 10 s</td>');
  const reply = await request(site.app).get('/api/desk/routes?sort=route').auth(ADA.token, { type: 'bearer' });
  expect(reply.status).toBe(200);
  expect(reply.body.routes.map(({ route }: { route: string }) => route)).toEqual(['/', '/cart', '/export']);
  expect(reply.body.slowest).toEqual([slowest]);
});
