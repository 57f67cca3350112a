import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createMetrics } from '../../../../src/server/engine/monitoring/metrics.ts';
import { createRouteHours, type RouteHour } from '../../../../src/server/engine/monitoring/route-hours.ts';
import { RequestInfo } from '../../../../src/server/engine/request/request-info.ts';
import { Timings } from '../../../../src/server/engine/request/timings.ts';
import { Hour, Minute } from '../../../../src/shared/units.ts';

const HOUR = Date.UTC(2026, 10, 21, 20);
/** Of `DURATION_BUCKETS`: 5, 10, 25, 50, 75, 100, 250, 500, 750 ms, 1, 2.5, 5, 7.5, 10 s. */
const ONE_IN_30_MS = [0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1];

beforeEach(() => void vi.useFakeTimers({ now: HOUR + 10 * Minute, toFake: ['Date', 'setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

function open() {
  const metrics = createMetrics({ build: 'b', release: 'r' });
  let stored = new Map<string, RouteHour>();
  let isAway = false;
  const hours = createRouteHours({
    read: metrics.readRoutes,
    async store(rows) {
      if (isAway) throw new Error('away');
      stored = new Map([...stored, ...rows.map((row) => [`${row.hour - HOUR} ${row.route}`, row] as const)]);
    },
  });
  function end(route: string | undefined, ms: number, status = 200): void {
    metrics.observeRequest({ method: 'GET', route, status, isGone: false, ms });
    if (!hours.isSlowest(ms)) return;
    const info = new RequestInfo({ requestId: 'r1', method: 'GET', address: '::1', origin: 'http://x' });
    info.route = route;
    info.timings = new Timings();
    info.timings.add('loader', performance.now(), 'cart');
    hours.note(info, { path: '/cart', status, ms });
  }
  return {
    hours,
    end,
    stored: () => Object.fromEntries(stored),
    setAway(value: boolean) {
      isAway = value;
    },
  };
}

it('counts the requests of each hour by route, with errors and durations', async () => {
  const { hours, end, stored } = open();
  end('/cart', 30);
  end('/cart', 30, 500);
  end(undefined, 30, 404);
  await hours.flush();
  vi.setSystemTime(HOUR + Hour - 1);
  end('/cart', 30);
  vi.setSystemTime(HOUR + Hour);
  await hours.flush();
  end('/cart', 30);
  await hours.flush();
  const times = (count: number) => ONE_IN_30_MS.map((one) => one * count);
  expect(stored()).toMatchObject({
    '0 /cart': { hour: HOUR, errors: 1, buckets: times(3) },
    '0 unmatched': { hour: HOUR, errors: 0, buckets: times(1) },
    [`${Hour} /cart`]: { hour: HOUR + Hour, errors: 0, buckets: times(1) },
  });
});

it('keeps the slowest request of an hour, with the parts of its time', async () => {
  const { hours, end, stored } = open();
  end('/cart', 30);
  end('/orders', 80);
  end('/cart', 60);
  await hours.flush();
  expect(stored()['0 /cart']?.slowest).toBeUndefined();
  expect(stored()['0 /orders']?.slowest).toEqual({
    at: HOUR + 10 * Minute,
    ms: 80,
    method: 'GET',
    path: '/cart',
    status: 200,
    requestId: 'r1',
    timings: [{ phase: 'loader', of: 'cart', ms: expect.any(Number) }],
  });
  vi.setSystemTime(HOUR + Hour);
  await hours.flush();
  end('/cart', 5);
  await hours.flush();
  expect(stored()[`${Hour} /cart`]?.slowest).toMatchObject({ ms: 5 });
});

it('stores hours later that could not be stored when they ended', async () => {
  const { hours, end, stored, setAway } = open();
  setAway(true);
  end('/cart', 30);
  vi.setSystemTime(HOUR + Hour);
  await expect(hours.flush()).rejects.toThrow('away');
  end('/cart', 30);
  setAway(false);
  await hours.flush();
  expect(stored()).toMatchObject({
    '0 /cart': { buckets: ONE_IN_30_MS },
    [`${Hour} /cart`]: { buckets: ONE_IN_30_MS },
  });
});

it('stores by itself each full minute, and at the end', async () => {
  const { hours, end, stored } = open();
  end('/cart', 30);
  await hours.close();
  expect(stored()).toEqual({}); // it was too short to open the store for it
  const longer = open();
  longer.end('/cart', 30);
  await vi.advanceTimersByTimeAsync(Minute);
  expect(longer.stored()).toMatchObject({ '0 /cart': { buckets: ONE_IN_30_MS } });
  longer.end('/cart', 30);
  await longer.hours.close();
  expect(longer.stored()).toMatchObject({ '0 /cart': { buckets: ONE_IN_30_MS.map((one) => 2 * one) } });
});
