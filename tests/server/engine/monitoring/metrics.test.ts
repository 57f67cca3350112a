import { describe, expect, it } from 'vitest';
import { COUNTERS } from '../../../../src/server/engine/monitoring/counters.ts';
import { createMetrics } from '../../../../src/server/engine/monitoring/metrics.ts';

const create = () => createMetrics({ build: 'BUILD7K3Q', release: 'v1' });
const ENDED = { method: 'GET', route: '/orders/:id', status: 200, isGone: false, ms: 30 };

/** Returns the lines of one metric. */
async function read(metrics: ReturnType<typeof create>, name: string): Promise<string[]> {
  return (await metrics.write()).split('\n').filter((line) => line.startsWith(name));
}

describe('counters', () => {
  it('add up by name and labels', async () => {
    const { count, listCounts } = create();
    count('spillway_reports_ignored_total', { reason: 'redirect' });
    count('spillway_reports_ignored_total', { reason: 'redirect' }, 2);
    count('spillway_reports_ignored_total', { reason: 'not "found"' });
    count('spillway_reports_past_cap_total', {});
    expect(await listCounts()).toEqual({
      'spillway_reports_ignored_total{reason="redirect"}': 3,
      'spillway_reports_ignored_total{reason="not \\"found\\""}': 1,
      spillway_reports_past_cap_total: 1,
    });
  });

  it('have the Prometheus text format', async () => {
    const metrics = create();
    metrics.count('spillway_failures_total', { side: 'server', kind: 'exception' });
    expect(await read(metrics, 'spillway_failures_total')).toEqual([
      'spillway_failures_total{side="server",kind="exception"} 1',
    ]);
    expect(await read(metrics, '# TYPE spillway_failures_total')).toEqual(['# TYPE spillway_failures_total counter']);
    expect(await read(metrics, 'spillway_build_info')).toEqual([
      `spillway_build_info{build="BUILD7K3Q",release="v1",node="${process.version}"} 1`,
    ]);
  });

  it('have valid Prometheus names', () => {
    expect(Object.keys(COUNTERS).filter((name) => !/^spillway_[a-z_]+_total$/.test(name))).toEqual([]);
  });
});

describe('requests', () => {
  it('are counted and timed by method, route and status class', async () => {
    const metrics = create();
    for (const ms of [3, 30, 300]) metrics.observeRequest({ ...ENDED, ms });
    metrics.observeRequest({ ...ENDED, status: 503 });
    const labels = 'http_request_method="GET",http_route="/orders/:id",http_response_status_class="2xx"';
    expect(await read(metrics, `http_server_request_duration_seconds_count`)).toEqual([
      `http_server_request_duration_seconds_count{${labels}} 3`,
      `http_server_request_duration_seconds_count{${labels.replace('2xx', '5xx')}} 1`,
    ]);
    expect(await read(metrics, `http_server_request_duration_seconds_bucket{le="0.05",${labels}}`)).toEqual([
      `http_server_request_duration_seconds_bucket{le="0.05",${labels}} 2`,
    ]);
    const [sum] = await read(metrics, `http_server_request_duration_seconds_sum{${labels}}`);
    expect(Number(sum?.split(' ').at(-1))).toBeCloseTo(0.333);
  });

  it.each([
    [
      'no route',
      { route: undefined },
      'http_request_method="GET",http_route="unmatched",http_response_status_class="2xx"',
    ],
    [
      'a made-up method',
      { method: 'BREW' },
      'http_request_method="_OTHER",http_route="/orders/:id",http_response_status_class="2xx"',
    ],
    [
      'a visitor who left',
      { isGone: true },
      'http_request_method="GET",http_route="/orders/:id",http_response_status_class="gone"',
    ],
  ])('with %s have the same labels as others', async (_name, changed, labels) => {
    const metrics = create();
    metrics.observeRequest({ ...ENDED, ...changed });
    expect(await read(metrics, 'http_server_request_duration_seconds_count')).toEqual([
      `http_server_request_duration_seconds_count{${labels}} 1`,
    ]);
  });

  it('have a limited number of label values, even if routers name thousands of routes', async () => {
    const metrics = create();
    for (let shop = 0; shop < 3000; shop++) metrics.observeRequest({ ...ENDED, route: `/api/shops/${shop}/orders` });
    const counts = await read(metrics, 'http_server_request_duration_seconds_count');
    expect(counts).toHaveLength(1001);
    expect(counts.at(-1)).toMatch(/http_route="other".* 2000$/);
  });
});

describe('gauges', () => {
  it('have the value at the time of the request', async () => {
    const metrics = create();
    let queued = 3;
    metrics.gauge('spillway_renders_queued', 'Pages that wait.', () => queued);
    metrics.gauge('spillway_store_reachable', 'The store.', async () => 1);
    expect(await read(metrics, 'spillway_renders_queued')).toEqual(['spillway_renders_queued 3']);
    queued = 5;
    expect(await read(metrics, 'spillway_renders_queued')).toEqual(['spillway_renders_queued 5']);
    expect(await read(metrics, 'spillway_store_reachable')).toEqual(['spillway_store_reachable 1']);
  });

  it('are omitted if they cannot be read, without affecting others', async () => {
    const metrics = create();
    let isBroken = false;
    metrics.gauge('spillway_journal_waiting_bytes', 'Waiting.', () => {
      if (isBroken) throw new Error('gone');
      return 7;
    });
    expect(await read(metrics, 'spillway_journal_waiting_bytes')).toEqual(['spillway_journal_waiting_bytes 7']);
    isBroken = true;
    expect(await read(metrics, 'spillway_journal_waiting_bytes')).toEqual([]);
    expect(await read(metrics, 'spillway_build_info')).toHaveLength(1);
  });
});
