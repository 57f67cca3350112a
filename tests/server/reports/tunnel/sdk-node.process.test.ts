import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAllSame, listTypes, startUpstream, toSent, type Upstream } from '../../../support/report-upstream.ts';
import { startTunnelSite, type TunnelSite } from '../../../support/tunnel-site.ts';
import { until } from '../../../support/until.ts';

const CLIENT = fileURLToPath(new URL('../../../support/sdk-node-client.mjs', import.meta.url));

let upstream: Upstream;
let site: TunnelSite;

beforeAll(async () => {
  upstream = await startUpstream();
  site = await startTunnelSite({ upstreamDsn: upstream.dsn, outbox: upstream.outbox, environment: 'test' });
});
afterAll(() => {
  site.close();
  upstream.close();
});

it('forwards everything that @sentry/node sends', { timeout: 60_000 }, async () => {
  for (const lifecycle of ['stream', 'static']) {
    await promisify(execFile)(process.execPath, [CLIENT, `${site.origin}/_report`, upstream.dsn, lifecycle]);
  }
  await until(() => upstream.bodies.length >= site.received.length, 'the last envelope', 10_000);

  const sent = site.received.map(toSent);
  expect(listTypes(sent)).toEqual(
    expect.arrayContaining([
      'attachment',
      'check_in',
      'client_report',
      'event',
      'feedback',
      'log',
      'session',
      'span',
      'trace_metric',
      'transaction',
    ]),
  );
  expect(site.received.some(({ coding }) => coding === 'gzip')).toBe(true);
  expectAllSame(upstream.bodies, sent);

  const titles = new Set(site.failures.map(({ title }) => title));
  expect(titles).toEqual(new Set(['Error: outer', 'NonError: said ✓', 'AggregateError: all', 'Error: large']));
  expect(site.failures.find(({ title }) => title === 'Error: outer')?.errors.map((error) => error.class)).toEqual([
    'Error',
    'TypeError',
  ]);
  expect(site.failures.find(({ title }) => title === 'AggregateError: all')?.errors[0]?.members).toEqual([
    'RangeError',
    'TypeError',
  ]);
  // This feedback is about no failure, so it is not stored.
  expect(site.feedback).toEqual([]);
  expect(site.faults).toEqual([]);
});
