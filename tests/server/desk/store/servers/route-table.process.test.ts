import { expect, it } from 'vitest';
import type { RouteHour } from '../../../../../src/server/desk/route-hours.ts';
import { Day, Hour } from '../../../../../src/shared/units.ts';
import { describeStores, thisHour } from '../../../../support/stores.ts';

function row(hour: number, route: string, buckets: number[], ms?: number): RouteHour {
  const slowest = { at: hour, ms: ms ?? 0, method: 'GET', route, path: route, requestId: 'r1', timings: [] };
  return { hour, route, errors: 1, buckets, ...(ms !== undefined && { slowest }) };
}

describeStores('routes', (open) => {
  it('are added up over the processes and hours of an environment', async () => {
    const { store } = await open();
    await store.storeRoutes('run-1', [row(thisHour, '/cart', [1, 2], 80), row(thisHour - Hour, '/cart', [1, 1], 50)]);
    await store.storeRoutes('run-2', [row(thisHour, '/cart', [0, 1]), row(thisHour, '/', [4, 4], 90)]);
    // The later values of a process replace its earlier ones.
    await store.storeRoutes('run-1', [row(thisHour, '/cart', [2, 4], 85)]);
    const { totals, slowest } = await store.readRoutes('production');
    expect(totals).toEqual(
      new Map([
        ['/cart', { errors: 3, buckets: [3, 6] }],
        ['/', { errors: 1, buckets: [4, 4] }],
      ]),
    );
    expect(slowest.map(({ at, route, ms }) => [at, route, ms])).toEqual([
      [thisHour, '/', 90],
      [thisHour - Hour, '/cart', 50],
    ]);
    expect(await store.readRoutes('staging')).toEqual({ totals: new Map(), slowest: [] });
  });

  it('are shown for a day, and deleted after two', async () => {
    const { store, driver } = await open();
    await store.storeRoutes('run-1', [row(thisHour - Day, '/old', [1]), row(thisHour - 3 * Day, '/oldest', [1])]);
    expect((await store.readRoutes('production')).totals.size).toBe(0);
    expect(await driver.all('SELECT route FROM desk_routes')).toEqual([{ route: '/old' }]);
  });
});
