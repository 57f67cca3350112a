import { createServer, type RequestListener } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { captureException, getClient } from '@sentry/node';
import { expect, it, onTestFinished } from 'vitest';
import type { Failure } from '../../../../src/server/errors/failure.ts';
import { MAX_EVENT_BYTES } from '../../../../src/server/limits.ts';
import { parseDsn } from '../../../../src/server/reports/sentry/open-sentry.ts';
import { createSentry, type Dsn } from '../../../../src/server/reports/sentry/sentry.ts';
import { toSentryEvent } from '../../../../src/server/reports/sentry/sentry-event.ts';
import { FAILURE } from '../../../support/failure.ts';
import { listenInTest } from '../../../support/listen.ts';
import { until } from '../../../support/until.ts';

const toUrl = (address: string) => `/failures/${address}`;

const failure: Failure = { ...FAILURE, cut: ['values'] };

/** Starts an error-reporting service, whose answer tests can change, and what sends to it. */
async function start() {
  const received: { header: Record<string, unknown>; items: Record<string, unknown>[] }[] = [];
  const state = { requests: 0, answer: undefined as RequestListener | undefined };
  const server = createServer(async (req, res) => {
    state.requests += 1;
    const body = await buffer(req);
    if (state.answer) return state.answer(req, res);
    const [header = '{}', ...lines] = body.toString().split('\n');
    received.push({
      header: JSON.parse(header),
      items: lines.flatMap((line, index) => (index % 2 === 1 ? [JSON.parse(line)] : [])),
    });
    res.end('{}');
  });
  const dsn = parseDsn(`http://publickey@127.0.0.1:${await listenInTest(server)}/42`) as Dsn;
  const counts = new Map<string, number>();
  const sentry = createSentry({
    dsn,
    environment: 'production',
    origin: 'https://example.com',
    toUrl,
    debugIds: { 'server/main.js': '11111111-2222-4333-8444-555555555555' },
    count: (name, labels) => {
      const key = [name, ...Object.values(labels ?? {})].join(' ');
      counts.set(key, (counts.get(key) ?? 0) + 1);
    },
  });
  onTestFinished(() => sentry.close());
  const report = (part: Partial<Failure> = {}) => sentry.reporter.report({ ...failure, ...part }, new Error('secret'));
  return { dsn, received, state, sentry, counts, report };
}

const toId = (index: number) => index.toString(16).padStart(32, '0');

it('a failure is sent completely, under its own id, and without anything else', async () => {
  const { received, report } = await start();
  const before = structuredClone(failure);
  report();
  expect(failure).toEqual(before);
  await until(() => received.length === 1, 'the event');
  const [{ header, items } = { header: {}, items: [] }] = received;
  const trace = { trace_id: failure.traceId, public_key: 'publickey' };
  expect(header).toMatchObject({ event_id: failure.id, trace });
  const [{ sdk, ...event } = {}, ...others] = items;
  expect([others, sdk]).toEqual([[], expect.objectContaining({ name: 'sentry.javascript.node' })]);
  expect(event).toEqual({
    event_id: failure.id,
    timestamp: 1_795_000_000.5,
    platform: 'node',
    level: 'error',
    environment: 'production',
    release: 'v1.4.0',
    transaction: 'GET /orders/:id',
    fingerprint: ['7K3QM2XA'],
    tags: {
      plan: 'pro',
      digest: '7K3QM2XA',
      incident: 'https://example.com/failures/7K3QM2XA-9F4W0R6B',
      route: '/orders/:id',
      release: 'v1.4.0',
      request_id: 'req-1',
      origin: 'loader',
      kind: 'exception',
      side: 'server',
    },
    contexts: {
      incident: {
        address: '7K3QM2XA-9F4W0R6B',
        url: 'https://example.com/failures/7K3QM2XA-9F4W0R6B',
        build: 'a29092e775f1',
        thrown_at: 'src/server/product/pages/orders.ts showOrder',
        cut: ['values'],
      },
      trace: { trace_id: failure.traceId, span_id: failure.spanId },
      react: { componentStack: '\n    at Order' },
    },
    extra: failure.extra,
    request: { method: 'GET', url: 'https://example.com/orders/7?page=2', headers: { accept: 'text/html' } },
    breadcrumbs: [{ timestamp: 1_795_000_000, category: 'fetch', message: 'GET /x', data: { status: 500 } }],
    exception: {
      values: [
        {
          type: 'Error',
          value: 'connect (ECONNREFUSED)',
          stacktrace: { frames: [{ filename: 'node:net', function: 'connect', in_app: false }] },
          mechanism: { type: 'chained', handled: true, exception_id: 1, parent_id: 0 },
        },
        {
          type: 'Error',
          value: 'The order cannot be shown.',
          stacktrace: {
            frames: [
              { filename: 'node_modules/express/lib/router.js', lineno: 3, colno: 1, in_app: false },
              { filename: 'app:///server/main.js', function: 'showOrder', lineno: 10, colno: 5, in_app: true },
            ],
          },
          mechanism: { type: 'spillway', handled: true, exception_id: 0 },
        },
      ],
    },
    debug_meta: {
      images: [
        { type: 'sourcemap', code_file: 'app:///server/main.js', debug_id: '11111111-2222-4333-8444-555555555555' },
      ],
    },
  });
  expect(JSON.stringify(received)).not.toContain(process.cwd());
});

it("a failure does not pass the SDK's client of the process, which nothing installs", async () => {
  const count = () => ['uncaughtException', 'SIGTERM'].map((name) => process.listenerCount(name));
  const before = count();
  const { received, report } = await start();
  captureException(new Error('past the funnel'));
  report();
  await until(() => received.length > 0, 'the event');
  expect([getClient(), received.length, count()]).toEqual([undefined, 1, before]);
});

it('a transaction of a browser is sent as the tunnel wrote it', async () => {
  const { received, sentry, dsn } = await start();
  const transaction = { event_id: toId(7), type: 'transaction', transaction: '/orders/:id' };
  sentry.upstream.send({ event_id: toId(7) }, transaction);
  await until(() => received.length === 1, 'the envelope');
  expect(received).toEqual([{ header: { dsn: dsn.text, event_id: toId(7) }, items: [transaction] }]);
});

it('a service that cannot be reached gets what waited when it is back, and everything beyond 200 is dropped and counted', async () => {
  const { received, state, counts, report } = await start();
  state.answer = (req) => req.socket.destroy();
  const dropped = () => counts.get('spillway_sentry_dropped_total queue_overflow') ?? 0;
  // The SDK sends at most 64 at the same time.
  for (let sent = 0; sent < 360; ) {
    const { requests } = state;
    for (const end = sent + 60; sent < end; sent += 1) report({ id: toId(sent) });
    await until(() => state.requests >= requests + 60, 'the attempts');
  }
  await until(() => dropped() >= 155, 'the count');
  expect(dropped()).toBeLessThan(170);
  state.answer = undefined;
  await until(() => received.length > 2, 'what waited', 30_000);
});

const eventOf = (part: Partial<Failure>) =>
  toSentryEvent({ ...failure, ...part }, { environment: 'production', toUrl });

it.each<[what: string, part: Partial<Failure>, event: object]>([
  ['that ended the process is fatal', { origin: 'process' }, { level: 'fatal' }],
  ['that blocked the loop is a warning', { kind: 'blocked-loop', origin: 'process' }, { level: 'warning' }],
  ['of a policy is a warning', { kind: 'csp', side: 'browser', origin: 'browser' }, { level: 'warning' }],
  ['has its own level', { level: 'warning' }, { level: 'warning' }],
  ['has a path if no origin is known', {}, { contexts: { incident: { url: '/failures/7K3QM2XA-9F4W0R6B' } } }],
  ['without an error has a message', { errors: [], title: 'Killed.' }, { message: 'Killed.' }],
  [
    "that is an echo has the address of the server's",
    { echoOf: '7K3QM2XA-AAAAAAAA' },
    { contexts: { incident: { url: '/failures/7K3QM2XA-AAAAAAAA' } } },
  ],
])('the event of a failure %s', (_what, part, event) => {
  expect(eventOf(part)).toMatchObject(event);
});

it('an event has no digest that is not known yet', () => {
  expect(JSON.stringify(eventOf({ unresolved: true }))).not.toContain(failure.digest);
});

it('an event fits into the size limit, and lists what was cut', () => {
  const frame = { file: `client/assets/${'x'.repeat(60)}.js`, line: 1, column: 1, function: 'f' };
  const event = eventOf({ errors: Array(10).fill({ class: 'E', message: 'm', frames: Array(100).fill(frame) }) });
  expect(Buffer.byteLength(JSON.stringify(event))).toBeLessThanOrEqual(MAX_EVENT_BYTES);
  expect(event.contexts?.incident?.cut).toEqual(expect.arrayContaining(['frames']));
  expect(event.exception?.values).toHaveLength(10);
});

it.each([
  ['https://abc@o1.ingest.example/42', 'https://abc@o1.ingest.example/42'],
  ['http://abc:old@127.0.0.1:9000/sub/path/42', 'http://abc@127.0.0.1:9000/sub/path/42'],
  ['abc', undefined],
  ['https://x.example/1', undefined],
  ['https://abc@x.example/', undefined],
  ['ftp://abc@x.example/1', undefined],
  ['https://abc@x.example/1?x', undefined],
  ['https://a%0Ab@x.example/1', undefined],
  ['https://abc@x.example/%2e', undefined],
])('the DSN %j is used as %s, without an old secret', (text, used) => {
  expect(parseDsn(text)).toEqual(used && { publicKey: 'abc', text: used });
});
