import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createRouteHours, type RouteHour } from '../../../src/server/desk/route-hours.ts';
import { createMetrics } from '../../../src/server/engine/monitoring/metrics.ts';
import { RequestInfo } from '../../../src/server/engine/request/request-info.ts';
import { Timings } from '../../../src/server/engine/request/timings.ts';
import { Hour, Minute } from '../../../src/shared/units.ts';

const HOUR = Date.UTC(2026, 10, 21, 20);
/** Of `DURATION_BUCKETS`: 5, 10, 25, 50, 75, 100, 250, 500, 750 ms, 1, 2.5, 5, 7.5, 10 s, more. */
const ONE_IN_30_MS = [0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1];
const times = (count: number) => ONE_IN_30_MS.map((one) => one * count);

beforeEach(() => void vi.useFakeTimers({ now: HOUR + 10 * Minute, toFake: ['Date', 'setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

function open() {
  const metrics = createMetrics({ build: 'b', release: 'r' });
  let stored = new Map<string, RouteHour>();
  let isAway = false;
  const hours = createRouteHours({
    readRoutes: metrics.readRoutes,
    scrubPath: (path) => path.replace('secret', '…'),
    async store(rows) {
      if (isAway) throw new Error('away');
      stored = new Map([...stored, ...rows.map((row) => [`${row.hour - HOUR} ${row.route}`, row] as const)]);
    },
  });
  return {
    flush: hours.flush,
    end(route: string | undefined, ms: number, status = 200): void {
      metrics.observeRequest({ method: 'GET', route, status, isGone: false, ms });
      const info = new RequestInfo({ requestId: 'r1', method: 'GET', address: '::1', origin: 'http://x' });
      info.route = route;
      info.target = '/reset/secret?token=1';
      info.timings = new Timings();
      info.timings.add('loader', performance.now(), 'cart');
      info.timings.add('render', performance.now());
      hours.note(info, status, ms);
    },
    stored: () => Object.fromEntries(stored),
    setAway(value: boolean) {
      isAway = value;
    },
  };
}

it('counts the requests of each hour by route, with errors and durations', async () => {
  const { flush, end, stored } = open();
  end('/cart', 30);
  end('/cart', 30, 500);
  end(undefined, 30, 404);
  await flush();
  vi.setSystemTime(HOUR + Hour - 1);
  end('/cart', 30);
  vi.setSystemTime(HOUR + Hour);
  await flush();
  end('/cart', 30);
  await flush();
  expect(stored()).toMatchObject({
    '0 /cart': { hour: HOUR, errors: 1, buckets: times(3) },
    '0 unmatched': { hour: HOUR, errors: 0, buckets: times(1) },
    [`${Hour} /cart`]: { hour: HOUR + Hour, errors: 0, buckets: times(1) },
  });
  expect(Object.keys(stored())).toHaveLength(3);
});

it('keeps the slowest request of an hour, with the parts of its time', async () => {
  const { flush, end, stored } = open();
  end('/cart', 30);
  end('/orders', 80);
  end('/cart', 60);
  await flush();
  expect(stored()['0 /cart']?.slowest).toBeUndefined();
  expect(stored()['0 /orders']?.slowest).toEqual({
    at: HOUR + 10 * Minute,
    ms: 80,
    method: 'GET',
    route: '/orders',
    path: '/reset/…',
    status: 200,
    requestId: 'r1',
    timings: [
      ['loader of cart', expect.any(Number)],
      ['render', expect.any(Number)],
    ],
  });
  vi.setSystemTime(HOUR + Hour);
  await flush();
  end('/cart', 5);
  await flush();
  expect(stored()[`${Hour} /cart`]?.slowest).toMatchObject({ ms: 5 });
});

it('stores by itself each full minute, also after the store was unavailable', async () => {
  const { end, stored, setAway } = open();
  end('/cart', 30);
  setAway(true);
  await vi.advanceTimersByTimeAsync(Minute);
  expect(stored()).toEqual({});
  setAway(false);
  await vi.advanceTimersByTimeAsync(Minute);
  expect(stored()).toMatchObject({ '0 /cart': { buckets: times(1) } });
});
