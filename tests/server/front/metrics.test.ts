import { expect, it } from 'vitest';
import { createMetrics } from '../../../src/server/front/metrics.ts';
import { COUNTERS } from '../../../src/server/request/counters.ts';

const ENDED = { method: 'GET', route: '/orders/:id', status: 200, isGone: false, ms: 30 };
const REQUESTS = 'http_server_request_duration_seconds';

function create() {
  const metrics = createMetrics({ build: 'BUILD7K3Q', release: 'v1' });
  /** Returns the lines of one metric. */
  const read = async (name: string) => (await metrics.write()).split('\n').filter((line) => line.startsWith(name));
  return { ...metrics, read };
}

const toLabels = ({ method = 'GET', route = '/orders/:id', status = '2xx' }) =>
  `http_request_method="${method}",http_route="${route}",http_response_status_class="${status}"`;

it('counters begin at zero, and the build is named, in the text format of Prometheus', async () => {
  const { count, read } = create();
  count('spillway_failures_total', { side: 'server', kind: 'exception' });
  expect(await read('spillway_failures_total')).toEqual([
    'spillway_failures_total{side="server",kind="exception"} 1',
    'spillway_failures_total{side="browser",kind="exception"} 0',
  ]);
  expect(await read('# TYPE spillway_failures_total')).toEqual(['# TYPE spillway_failures_total counter']);
  const info = `spillway_build_info{build="BUILD7K3Q",release="v1",node="${process.version}"} 1`;
  expect(await read('spillway_build_info')).toEqual([info]);
  expect(Object.keys(COUNTERS).filter((name) => !/^spillway_[a-z_]+_total$/.test(name))).toEqual([]);
});

it.each([
  ['a failure', { status: 503 }, { status: '5xx' }],
  ['no route', { route: undefined }, { route: 'unmatched' }],
  ['a made-up method', { method: 'BREW' }, { method: '_OTHER' }],
  ['a visitor who left', { isGone: true }, { status: 'gone' }],
])('requests are counted and timed by method, route and status class: %s', async (_name, changed, labels) => {
  const { observeRequest, read } = create();
  observeRequest({ ...ENDED, ...changed });
  expect(await read(`${REQUESTS}_count`)).toEqual([`${REQUESTS}_count{${toLabels(labels)}} 1`]);
  expect(await read(`${REQUESTS}_sum`)).toEqual([`${REQUESTS}_sum{${toLabels(labels)}} 0.03`]);
});
