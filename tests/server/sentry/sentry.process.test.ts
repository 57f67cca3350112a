import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { captureException, getClient } from '@sentry/node';
import { describe, expect, it } from 'vitest';
import type { Failure } from '../../../src/server/engine/errors/failure.ts';
import { type Dsn, parseDsn } from '../../../src/server/sentry/dsn.ts';
import { createOutbox, type Outbox } from '../../../src/server/sentry/outbox.ts';
import { createSentryReporter, type SentryReporterOptions } from '../../../src/server/sentry/sentry.ts';
import { toSentryEvent } from '../../../src/server/sentry/sentry-event.ts';
import { MAX_EVENT_BYTES } from '../../../src/shared/engine/limits.ts';
import { until } from '../../support/until.ts';
import { startUpstream } from '../../support/upstream.ts';

const toUrl = (address: string) => `/failures/${address}`;

const failure: Failure = {
  id: '0123456789abcdef0123456789abcdef',
  digest: '7K3QM2XA',
  occurrence: '9F4W0R6B',
  rule: 2,
  kind: 'exception',
  side: 'server',
  origin: 'loader',
  at: 1_795_000_000_500,
  build: 'a29092e775f1',
  release: 'v1.4.0',
  errors: [
    {
      class: 'Error',
      message: 'The order cannot be shown.',
      frames: [
        { file: 'server/main.js', line: 10, column: 5, function: 'showOrder' },
        { file: 'node_modules/express/lib/router.js', line: 3, column: 1, function: '' },
      ],
    },
    {
      class: 'Error',
      message: 'connect',
      code: 'ECONNREFUSED',
      frames: [{ file: 'node:net', line: 0, column: 0, function: 'connect' }],
    },
  ],
  title: 'Error: The order cannot be shown.',
  site: { path: 'src/server/product/pages/orders.ts', function: 'showOrder', detail: 'throw new Error("x")' },
  route: '/orders/:id',
  requestId: 'req-1',
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  spanId: '00f067aa0ba902b7',
  request: {
    method: 'GET',
    url: '/orders/7?page=2',
    headers: { accept: 'text/html' },
    credentials: ['sid'],
    body: { fields: { name: 'string' } },
  },
  breadcrumbs: [{ at: 1_795_000_000_000, category: 'fetch', message: 'GET /x', data: { status: 500 } }],
  tags: { plan: 'pro' },
  extra: { deep: { a: { b: { c: { d: 1 } } } } },
  componentStack: '\n    at Order',
  cut: ['values'],
};

interface ParsedEnvelope {
  readonly header: Record<string, unknown>;
  readonly items: { readonly header: Record<string, unknown>; readonly payload: Record<string, unknown> }[];
}

function parseEnvelope(bytes: Uint8Array): ParsedEnvelope {
  const [header = '', ...lines] = Buffer.from(bytes).toString().split('\n');
  const items = [];
  for (let index = 0; index + 1 < lines.length; index += 2) {
    const [itemHeader, payload] = [lines[index] ?? '', lines[index + 1] ?? ''];
    expect(JSON.parse(itemHeader).length).toBe(Buffer.byteLength(payload));
    items.push({ header: JSON.parse(itemHeader), payload: JSON.parse(payload) });
  }
  return { header: JSON.parse(header), items };
}

function setUp(options: Partial<SentryReporterOptions> = {}) {
  const envelopes: ParsedEnvelope[] = [];
  const counted: unknown[] = [];
  const outbox: Outbox = {
    add(envelope, category) {
      expect(category).toBe('error');
      envelopes.push(parseEnvelope(envelope));
      return true;
    },
    limits: () => undefined,
    bytes: 0,
    close: () => Promise.resolve(),
  };
  const reporter = createSentryReporter({
    dsn: parseDsn('https://publickey@o1.ingest.example/42') as Dsn,
    outbox,
    environment: 'production',
    origin: 'https://example.com',
    toUrl,
    debugIds: { 'server/main.js': '11111111-2222-4333-8444-555555555555' },
    count: (...told) => counted.push(told),
    ...options,
  });
  return { reporter, envelopes, counted };
}

describe('report', () => {
  it('has passed the envelope on when it returns', () => {
    const { reporter, envelopes } = setUp();
    expect(reporter.report(failure, new Error('x'))).toBe(true);
    expect(envelopes).toHaveLength(1);
  });

  it('sends the complete failure under its own id', () => {
    const { reporter, envelopes } = setUp();
    reporter.report(failure, new Error('x'));
    const [{ header, items }] = envelopes as [ParsedEnvelope];
    expect(header).toMatchObject({
      event_id: failure.id,
      trace: { trace_id: failure.traceId, public_key: 'publickey' },
    });
    expect(items).toHaveLength(1);
    expect(items[0]?.header.type).toBe('event');
    const { sdk, ...event } = items[0]?.payload ?? {};
    expect(sdk).toMatchObject({ name: 'sentry.javascript.node' });
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
  });

  it('sends hundreds simultaneously, and one error as often as it is reported', () => {
    const { reporter, envelopes } = setUp();
    const error = new Error('x');
    for (let index = 0; index < 300; index += 1)
      reporter.report({ ...failure, id: index.toString(16).padStart(32, '0') }, error);
    expect(new Set(envelopes.map(({ header }) => header.event_id)).size).toBe(300);
  });

  it('returns false if it was not stored', () => {
    const outbox: Outbox = { add: () => false, limits: () => undefined, bytes: 0, close: () => Promise.resolve() };
    expect(setUp({ outbox }).reporter.report(failure, undefined)).toBe(false);
  });

  it('does not change its input, and sends nothing that is not in the failure', () => {
    const { reporter, envelopes } = setUp();
    const before = structuredClone(failure);
    reporter.report(failure, new Error('secret of the thrown error'));
    expect(failure).toEqual(before);
    const text = JSON.stringify(envelopes);
    expect(text).not.toContain('secret of the thrown error');
    expect(text).not.toContain('server_name');
    expect(text).not.toContain(process.cwd());
  });

  it("is not the SDK's client of the process: the SDK's functions do not use it", () => {
    const listeners = ['uncaughtException', 'unhandledRejection', 'SIGTERM'].map((name) => process.listenerCount(name));
    const { envelopes } = setUp();
    expect(getClient()).toBeUndefined();
    captureException(new Error('past the funnel'));
    expect(envelopes).toEqual([]);
    expect(['uncaughtException', 'unhandledRejection', 'SIGTERM'].map((name) => process.listenerCount(name))).toEqual(
      listeners,
    );
  });
});

describe('the event', () => {
  const options = { environment: 'production', toUrl };

  it.each([
    [{ origin: 'process' }, 'fatal'],
    [{ origin: 'service' }, 'error'],
    [{ kind: 'blocked-loop', origin: 'process' }, 'warning'],
    [{ kind: 'csp', side: 'browser', origin: 'browser' }, 'warning'],
    [{}, 'error'],
    [{ level: 'warning' }, 'warning'],
  ] as [Partial<Failure>, string][])('of %j is %s', (part, level) => {
    expect(toSentryEvent({ ...failure, ...part }, options).level).toBe(level);
  });

  it('has a path if no origin is known, and a message if there is no error', () => {
    const { request: _, traceId: __, ...rest } = failure;
    const event = toSentryEvent({ ...rest, errors: [], title: 'The process was killed.' }, options);
    expect(event.message).toBe('The process was killed.');
    expect(event.exception).toBeUndefined();
    expect(event.contexts.incident?.url).toBe('/failures/7K3QM2XA-9F4W0R6B');
    expect(event.contexts.trace).toBeUndefined();
    expect(event.tags.incident).toBeUndefined();
  });

  it('fits into the size limit, and lists what was cut', () => {
    const frames = Array.from({ length: 100 }, () => ({
      file: `client/assets/${'x'.repeat(60)}.js`,
      line: 1,
      column: 1,
      function: 'f',
    }));
    const errors = Array.from({ length: 10 }, () => ({ class: 'E', message: 'm', frames }));
    const event = toSentryEvent({ ...failure, errors }, options);
    expect(Buffer.byteLength(JSON.stringify(event))).toBeLessThanOrEqual(MAX_EVENT_BYTES);
    expect(event.contexts.incident?.cut).toEqual(expect.arrayContaining(['frames']));
    expect(event.exception?.values).toHaveLength(10);
  });
});

it('loses nothing if the process exits immediately afterwards, and sends it from the next process', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sentry-'));
  const upstream = await startUpstream();
  const sources = new URL('../../../', import.meta.url).href;
  const script = `
    const { createSentryReporter } = await import('${sources}dist/server/sentry.js');
    const { createOutbox } = await import('${sources}src/server/sentry/outbox.ts');
    const { parseDsn } = await import('${sources}src/server/sentry/dsn.ts');
    const dsn = parseDsn('${upstream.dsn.text}');
    const outbox = createOutbox({ folder: ${JSON.stringify(folder)}, dsn, count() {}, warn() {} });
    const reporter = createSentryReporter({ dsn, outbox, environment: 'production', toUrl() {}, count() {} });
    reporter.report(${JSON.stringify(failure)});
    process.exit(0);`;
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  expect(upstream.received).toEqual([]);
  const outbox = createOutbox({ folder, dsn: upstream.dsn, count: () => undefined, warn: () => undefined });
  await until(() => upstream.received.length === 1, 'the event', 10_000);
  expect(parseEnvelope(upstream.received[0]?.body ?? Buffer.of()).header.event_id).toBe(failure.id);
  await outbox.close();
  await upstream.close();
  rmSync(folder, { recursive: true });
});

it('works as the bundle that the server loads', async () => {
  const bundle = new URL('../../../dist/server/sentry.js', import.meta.url);
  const script = `
    const { createSentryReporter } = await import(${JSON.stringify(bundle.href)});
    const outbox = { add: (bytes) => process.stdout.write(bytes) || true, limits() {}, async close() {} };
    const dsn = { text: 'https://k@x.example/1' };
    const reporter = createSentryReporter({ dsn, outbox, environment: 'production', toUrl() {}, count() {} });
    const kept = reporter.report(${JSON.stringify(failure)});
    process.exit(kept ? 0 : 1);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    cwd: fileURLToPath(new URL('../../..', import.meta.url)),
  });
  expect(parseEnvelope(Buffer.from(stdout)).items[0]?.payload.event_id).toBe(failure.id);
});
