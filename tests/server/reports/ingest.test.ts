import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createEvent, startTunnelSite, writeEnvelope } from '../../support/tunnel-site.ts';

const DSN = 'https://abc123@o1.ingest.example/7';
const TRACE = 'a'.repeat(32);
const SPAN = 'b'.repeat(16);

const site = await startTunnelSite({
  upstreamDsn: DSN,
  trustProxy: ['loopback'],
  tracker: { isKnown: async () => true },
});
let serial = 0;

afterAll(site.close);
beforeEach(() => {
  site.failures.length = 0;
  site.forwarded.length = 0;
  site.counts.clear();
});

const nextId = () => (++serial).toString(16).padStart(32, 'b');

type Item = readonly [headers: Record<string, unknown>, payload: unknown];

async function post(body: string | Uint8Array, headers: Record<string, string> = {}) {
  const reply = await fetch(`${site.origin}/_report`, { method: 'POST', body: body as BodyInit, headers });
  const [header, payload] = site.forwarded.at(-1) ?? [];
  // biome-ignore lint/suspicious/noExplicitAny: whatever an upstream would make of it
  const event: any = payload && JSON.parse(JSON.stringify(payload));
  return { status: reply.status, body: await reply.json(), header, event, failure: site.failures.at(-1) };
}

/** Sends an envelope, and returns the answer and what the upstream got. */
const send = (items: readonly Item[], headers?: Record<string, string>, envelopeHeaders: object = {}) =>
  post(writeEnvelope({ dsn: DSN, ...envelopeHeaders }, ...items), headers);

const sendEvent = (event: Record<string, unknown> = {}, headers?: Record<string, string>) =>
  send([[{ type: 'event' }, createEvent({ event_id: nextId(), ...event })]], headers);

const read = async (event: Record<string, unknown>) => (await sendEvent(event)).failure;

const counted = (type: string, outcome: string) =>
  site.counts.get(`spillway_tunnel_items_total{type=${type},outcome=${outcome}}`) ?? 0;

/** Replaces `ORIGIN` in all texts. */
const here = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll('ORIGIN', site.origin));

describe('an event', () => {
  it('is read only as far as pages write one', async () => {
    const toFields = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, `v${at}`]));
    const breadcrumbs = [{ category: 'fetch', data: toFields(1000) }];
    const stored = await read({ extra: toFields(4800), contexts: { state: toFields(3000) }, breadcrumbs });
    expect(Object.keys(stored?.extra ?? {}).length).toBeLessThan(205);
    expect(Object.keys(stored?.breadcrumbs?.[0]?.data ?? {})).toHaveLength(20);
  });

  it('is stored, and forwarded as the failure that it became, with the names of its cookies', async () => {
    const tags = { cart: 'full', 'spillway.build': 'build-2' };
    const { body, event, failure } = await sendEvent(
      { tags, request: { url: `${site.origin}/a` } },
      { 'X-Forwarded-For': '6.6.6.6, 192.0.2.7', 'User-Agent': 'Mozilla/5.0 hushAgent', Cookie: 'a=canary; b=canary' },
    );
    expect(failure).toMatchObject({ digest: body.digest, visitor: '192.0.2.7', tags: { cart: 'full' } });
    expect(failure?.request?.credentials).toEqual(['a', 'b']);
    expect(event).toMatchObject({
      event_id: body.id,
      ...{ release: 'v2', environment: 'production', level: 'error', fingerprint: [body.digest] },
      tags: { cart: 'full', digest: body.digest },
      request: { url: `${site.origin}/a`, headers: { 'user-agent': 'Mozilla/5.0 [redacted]' } },
      exception: { values: [{ type: 'TypeError', value: 'x is not a function' }] },
    });
    expect(JSON.stringify([site.failures, site.forwarded])).not.toMatch(/canary|6\.6\.6\.6/);
    expect(counted('event', 'forwarded')).toBe(1);
  });

  it('is scrubbed in every field, for the store and for the upstream', async () => {
    const frame = {
      filename: '/a?hushFile',
      function: 'hushFunction',
      vars: { a: 'hushVar' },
      context_line: 'hushLine',
    };
    const stacktrace = { frames: [frame, { pre_context: ['hushPre'] }] };
    const { event, failure } = await sendEvent({
      message: 'hushMessage',
      logentry: { message: 'hushEntry', params: ['hushParam'] },
      exception: {
        values: [{ type: 'hushType', value: 'hushValue', mechanism: { data: { a: 'hushMechanism' } }, stacktrace }],
      },
      breadcrumbs: [{ category: 'fetch', message: 'hushCrumb', data: { url: '/?hushCrumbUrl', body: { a: 'hushA' } } }],
      contexts: {
        a: { b: 'hushContext' },
        react: { componentStack: '\n at hushStack', said: 'hushSaid' },
        trace: { trace_id: TRACE, data: { a: 'hushTrace' } },
      },
      extra: { a: ['hushExtra'] },
      tags: { a: 'hushTag' },
      user: { name: 'hushUser' },
      request: { url: 'https://a.example/?hushUrl', headers: { Cookie: 'hushCookie' }, data: 'hushBody' },
      sdk: { name: 'hushSdk' },
      threads: { values: [{ stacktrace: { frames: [{ function: 'hushThread' }] } }] },
      debug_meta: { images: [{ type: 'sourcemap', code_file: '/hushImage.js', debug_id: TRACE }] },
      made_up_in_2031: { deep: { deeper: 'hushFuture' } },
      transaction: 'hushTransaction',
    });
    expect(JSON.stringify([event, failure])).not.toContain('hush');
    expect(event).toMatchObject({ contexts: { trace: { trace_id: TRACE } } });
    expect(failure?.request).toMatchObject({ method: 'GET', url: 'https://a.example/?[redacted]' });
  });

  it('contains nothing that only the server can say', async () => {
    const forged = { release: 'forged', environment: 'forged', dist: 'forged', server_name: 'forged' };
    const { event, failure, body } = await sendEvent({
      ...forged,
      ...{ fingerprint: ['forged'], level: 'fatal', transaction: '/orders/7' },
      tags: {
        ...forged,
        digest: 'forged',
        incident: 'forged',
        'spillway.other': 'forged',
        'spillway.kind': 'csp',
        fine: 1,
      },
      user: { id: '7', ip_address: '6.6.6.6' },
      request: { url: 'https://shop.example/', cookies: 'forged', env: { a: 'forged' } },
    });
    expect(JSON.stringify(event)).not.toMatch(/forged|fatal|6\.6\.6\.6/);
    expect(failure).toMatchObject({ kind: 'exception', build: '', release: '', tags: { fine: '1' } });
    expect([failure?.route, failure?.level]).toEqual([undefined, undefined]);
    expect(body.digest).toBe((await sendEvent()).body.digest);
  });

  it('names no unknown build', async () => {
    for (const forged of ['v999', '__proto__', '', 'x'.repeat(300), 7, {}]) {
      expect(await read({ release: forged, dist: forged })).toMatchObject({ build: '', release: '' });
    }
  });

  it('does not pollute a prototype', async () => {
    const own = '{"polluted":1}';
    const payload = `{"__proto__":${own},"constructor":{"prototype":${own}},"tags":{"__proto__":${own}},"extra":{"a":{"__proto__":${own}}},"message":"a"}`;
    expect((await send([[{ type: 'event' }, payload]])).status).toBe(200);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(JSON.stringify([site.forwarded, site.failures])).not.toContain('polluted');
  });

  it('that matches an ignored error is answered and counted, but neither stored nor forwarded', async () => {
    const { body } = await sendEvent({ exception: { values: [{ value: 'Extension context invalidated.' }] } });
    expect(body).toEqual({ id: expect.any(String) });
    expect([site.failures, site.forwarded]).toEqual([[], []]);
    expect(site.counts.get('spillway_reports_ignored_total{reason=extension}')).toBe(1);
  });

  it("counts on the server's incident if it is an echo", async () => {
    const address = '7K3QM2XA-9F4W0R6B';
    const { body, event, failure } = await sendEvent({ tags: { 'spillway.echo': address } });
    expect([body.digest, failure?.digest, failure?.echoOf]).toEqual(['7K3QM2XA', '7K3QM2XA', address]);
    expect([event.tags.digest, event.contexts.incident.address]).toEqual(['7K3QM2XA', address]);
    for (const forged of ['7K3QM2XA', '7K3QM2XA-9F4W0R6', '7k3qm2xa-9f4w0r6b', '7K3QM2XU-9F4W0R6B', 7, [address]]) {
      expect((await read({ tags: { 'spillway.echo': forged } }))?.echoOf).toBeUndefined();
    }
  });

  it('has the time of its sender, if it is plausible', async () => {
    const minuteAgo = Date.now() - 60_000;
    expect((await read({ timestamp: minuteAgo / 1000 }))?.at).toBeCloseTo(minuteAgo, -1);
    for (const timestamp of [0, -1, Date.now(), Date.now() / 1000 + 3600, 'never', null, {}, [1], undefined]) {
      expect((await read({ timestamp }))?.at).toBeGreaterThan(Date.now() - 30_000);
    }
  });
});

const at = (source: string, exception_id: number, parent_id?: number) => ({ source, exception_id, parent_id });
const frames = [
  { filename: 'ORIGIN/assets/main-AAAAAAAA.js', function: 'start', lineno: 1, colno: 2 },
  { filename: 'ORIGIN/assets/cart-BBBBBBBB.js?v=1#x', function: '?', lineno: 3, colno: 4 },
];
const manyFrames = Array.from({ length: 300 }, (_, line) => ({ filename: '/assets/a.js', lineno: line + 1 }));

it.each<[what: string, event: { values?: object[]; [key: string]: unknown }, failure: object]>([
  [
    'its errors outermost first, with frames from the throw outwards',
    { values: [{ type: 'TypeError', value: 'inner', stacktrace: { frames } }, { type: 'AppError' }] },
    {
      errors: [
        { class: 'AppError', frames: [] },
        {
          class: 'TypeError',
          frames: [
            { file: 'client/assets/cart-BBBBBBBB.js', line: 3, column: 4, function: '' },
            { file: 'client/assets/main-AAAAAAAA.js', line: 1, column: 2, function: 'start' },
          ],
        },
      ],
    },
  ],
  [
    'causes by their ids, and the names of the members of an aggregate',
    {
      values: [
        { type: 'RangeError', mechanism: at('errors[1]', 2, 0) },
        { type: 'TypeError', mechanism: at('errors[0]', 1, 0) },
        { type: 'SyntaxError', mechanism: at('cause', 3, 0) },
        { type: 'AggregateError', mechanism: at('', 0) },
      ],
    },
    { errors: [{ class: 'AggregateError', members: ['RangeError', 'TypeError'] }, { class: 'SyntaxError' }] },
  ],
  [
    'at most 10 errors with 100 frames',
    { values: Array(12).fill({ type: 'E', stacktrace: { frames: manyFrames } }) },
    { errors: { length: 10, 0: { frames: { length: 100, 0: { line: 300 } } } } },
  ],
  [
    'at most 100 marks',
    { breadcrumbs: Array.from({ length: 130 }, (_, n) => ({ message: 'x'.repeat(600), data: { n } })) },
    { breadcrumbs: { length: 100, 99: { category: 'default', data: { n: 129 } } } },
  ],
  ['a message without an error', { message: 'said' }, { errors: [{ class: 'NonError', message: 'said' }] }],
  [
    "the component stack, without the error that React's SDK adds for it",
    {
      values: [
        { type: 'React ErrorBoundary E', stacktrace: { frames: [{ function: 'App' }, { function: 'Cart' }] } },
        { type: 'E' },
      ],
    },
    { errors: [{ class: 'E' }], componentStack: '\n    at Cart\n    at App' },
  ],
  [
    'no control characters except line breaks and tabs',
    { values: [{ type: 'E\u0000\u001b[31m', value: 'a\u001b[2J\nb\u0085\tc' }] },
    { errors: [{ class: 'E [31m', message: 'a [2J\nb \tc' }] },
  ],
  [
    'the trace, the mechanism and contexts',
    {
      exception: createEvent().exception,
      contexts: { trace: { trace_id: TRACE, span_id: SPAN, op: 'x' }, browser: { name: 'Firefox' } },
      extra: { cart: 3 },
    },
    { traceId: TRACE, spanId: SPAN, extra: { cart: 3, via: 'onerror', contexts: { browser: { name: 'Firefox' } } } },
  ],
  [
    'the route, level, kind and build that the server knows',
    {
      transaction: '/orders/:id',
      level: 'warning',
      tags: { 'spillway.kind': 'hydration' },
      release: 'v9',
      dist: 'build-2',
    },
    { route: '/orders/:id', level: 'warning', kind: 'hydration', build: 'build-2', release: 'v2' },
  ],
])('a failure has %s', async (_what, { values, ...event }, expected) => {
  const exception = values && { values };
  expect(await read(here({ exception: exception ?? null, ...event }))).toMatchObject(here(expected));
});

it.each([
  ['ORIGIN/orders/7?token=x', 'ORIGIN/orders/7'],
  ['app://abcdef/inject.js', 'app://abcdef/inject.js'],
  ['https://cdn.example/hushhush/a.js?x', 'https://cdn.example/[redacted]/a.js'],
  ['data:text/javascript,alert(1)', ''],
  [12, ''],
])('the file %s of a frame becomes %s', async (filename, file) => {
  const stacktrace = { frames: [{ filename, lineno: -1, colno: 1.5 }] };
  const failure = await read(here({ exception: { values: [{ type: 'E', stacktrace }] } }));
  expect(failure?.errors[0]?.frames).toEqual(here([{ file, line: 0, column: 0, function: '' }]));
});

it('other items are counted and reach neither the store nor the upstream', async () => {
  const types = ['session', 'attachment', 'replay_event', 'profile', 'feedback', 'user_report', 'log', 'from_2031'];
  const items = types.map((type): Item => [{ type, length: 6 }, 'canary']);
  const event: Item = [{ type: 'event' }, createEvent({ event_id: nextId() })];
  expect((await send([...items, event, event])).status).toBe(200);
  expect([site.failures.length, site.forwarded.length]).toEqual([1, 1]);
  expect(JSON.stringify([site.failures, site.forwarded])).not.toContain('canary');
  expect([counted('other', 'dropped'), counted('event', 'dropped')]).toEqual([types.length, 1]);
});

it.each([
  '{"type":"event"}\nEVENT\n{"type":"attachment","length":99}\ncut',
  `{"type":"event"}\nEVENT\n${'x'.repeat(20_000)}\nx`,
  '{"type":"transaction"}\nno JSON\n{"type":"event"}\nEVENT',
])('other items that are broken or cut off do not lose the good event: %#', async (items) => {
  const id = nextId();
  const event = JSON.stringify(createEvent({ event_id: id }));
  expect((await post(`{"dsn":"${DSN}"}\n${items.replace('EVENT', event)}`)).status).toBe(200);
  expect(site.failures).toMatchObject([{ id }]);
  expect(counted('transaction', 'dropped')).toBe(items.includes('transaction') ? 1 : 0);
});

describe('a transaction', () => {
  const ids = { trace_id: TRACE, span_id: SPAN };
  const transaction = {
    ...{ type: 'transaction', event_id: '1'.repeat(32), transaction: '/orders/hushName' },
    ...{ start_timestamp: 1, timestamp: 2, release: 'forged', environment: 'forged', server_name: 'forged' },
    contexts: { trace: { ...ids, op: 'pageload', data: { url: '/?hushUrl' } } },
    spans: Array(2000).fill({ ...ids, parent_span_id: SPAN, description: 'GET /?hushSpan', data: { a: 'hushA' } }),
    tags: { a: 'hushTag', digest: 'forged' },
    user: { email: 'hushUser', ip_address: '{{auto}}' },
    request: { url: 'https://a.example/?hushQuery', headers: { Cookie: 'hushCookie' } },
    measurements: { lcp: { value: 3 } },
  };

  it('is forwarded with 1,000 spans, scrubbed like an event, and not stored', async () => {
    const trace = { trace_id: TRACE, release: 'forged', sample_rand: 'hushRand' };
    const { body, header, event } = await send([[{ type: 'transaction' }, transaction]], {}, { trace });
    const kept = { trace_id: TRACE, public_key: undefined, sample_rand: '[redacted]' };
    expect([body, header, site.failures]).toEqual([{}, { event_id: '1'.repeat(32), trace: kept }, []]);
    expect(JSON.stringify(event)).not.toMatch(/hush|forged/);
    expect(event).toMatchObject({
      ...{ type: 'transaction', event_id: '1'.repeat(32), start_timestamp: 1, timestamp: 2, environment: 'production' },
      contexts: { trace: { ...ids, op: 'pageload' } },
      spans: { length: 1000, 0: { ...ids, parent_span_id: SPAN, description: 'GET /?[redacted]' } },
      measurements: { lcp: { value: 3 } },
    });
    expect(counted('transaction', 'forwarded')).toBe(1);
  });

  it.each([
    [1.5, 1.5],
    ['2026-11-27T08:00:00Z', 1_795_766_400],
    ['hush', undefined],
    [['hush'], undefined],
  ])('has the time %j as %j', async (timestamp, at) => {
    const times = { start_timestamp: timestamp, timestamp };
    const { event } = await send([[{ type: 'transaction' }, { ...transaction, ...times }]]);
    expect([event.start_timestamp, event.timestamp]).toEqual([at, at]);
  });

  it('is dropped if its page does not exist, or without an upstream', async () => {
    await send([[{ type: 'transaction' }, { contexts: { trace: { status: 'not_found' } } }]]);
    expect(site.forwarded).toEqual([]);
    expect(site.counts.get('spillway_reports_ignored_total{reason=not-found}')).toBe(1);
    const alone = await startTunnelSite();
    const dsn = `http://spillway@127.0.0.1:${alone.port}/1`;
    const body = new Uint8Array(writeEnvelope({ dsn }, [{ type: 'transaction' }, transaction]));
    expect((await fetch(`${alone.origin}/_report`, { method: 'POST', body })).status).toBe(200);
    expect(alone.counts.get('spillway_tunnel_items_total{type=transaction,outcome=dropped}')).toBe(1);
    alone.close();
  });
});

it('anything with the keys of an event can be stored or forwarded', async () => {
  // Also an object that `String()` and `Number()` cannot convert.
  const value = fc.oneof(fc.jsonValue({ maxDepth: 4 }), fc.constant({ toString: 1, valueOf: 1 }));
  const key = fc.constantFrom(...EVENT_KEYS);
  const mechanism = fc.oneof(value, fc.record({ exception_id: value, parent_id: value, source: value }));
  const error = fc.record({ type: value, value, mechanism, stacktrace: fc.record({ frames: value }) });
  const exception = fc.oneof(value, fc.record({ values: fc.oneof(value, fc.array(error)) }));
  await fc.assert(
    fc.asyncProperty(fc.dictionary(key, value), exception, async (event, given) => {
      const response = { status_code: { toString: 1 } };
      const payload = createEvent({ contexts: { response }, ...event, event_id: nextId(), exception: given });
      const { status } = await send([
        [{ type: 'event' }, payload],
        [{ type: 'transaction' }, payload],
      ]);
      expect([status, site.faults, site.forwarded.length > 0]).toEqual([200, [], true]);
    }),
    { numRuns: 300 },
  );
});

const EVENT_KEYS = [
  ...['tags', 'contexts', 'extra', 'request', 'user', 'message', 'logentry', 'threads', 'timestamp', 'level', 'spans'],
  ...['sdk', 'debug_meta', 'transaction', 'dist', 'release', 'platform', 'start_timestamp', 'breadcrumbs'],
];
