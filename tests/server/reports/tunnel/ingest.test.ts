import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Failure } from '../../../../src/server/engine/errors/failure.ts';
import { parseEnvelope } from '../../../../src/server/reports/tunnel/envelope.ts';
import { toFailure } from '../../../../src/server/reports/tunnel/event-to-failure.ts';
import { type JsonRecord, ReportError } from '../../../../src/server/reports/tunnel/report-json.ts';
import { rewriteTransaction } from '../../../../src/server/reports/tunnel/rewrite-transaction.ts';
import {
  createEvent,
  fakeScrubber,
  makeFakeDigest,
  startTunnelSite,
  type TunnelSite,
  writeEnvelope,
} from '../../../support/tunnel-site.ts';

const DSN = 'https://abc123@o1.ingest.example/7';
const TRACE = 'a'.repeat(32);
const SPAN = 'b'.repeat(16);

let site: TunnelSite;
let serial = 0;
/** The digests that have an incident; undefined for all. */
let known: Set<string> | undefined;

beforeAll(async () => {
  site = await startTunnelSite({
    upstreamDsn: DSN,
    environment: 'production',
    trustProxy: ['loopback'],
    store: { isKnownDigest: (digest) => known?.has(digest) ?? true },
  });
});
afterAll(() => site.close());
beforeEach(() => {
  site.failures.length = 0;
  site.forwarded.length = 0;
  site.counts.clear();
  known = undefined;
});

function nextId(): string {
  serial += 1;
  return serial.toString(16).padStart(32, 'b');
}

type Item = readonly [headers: Record<string, unknown>, payload: unknown];

/** Sends an envelope, and returns the answer and what the upstream got. */
async function send(items: readonly Item[], headers: Record<string, string> = {}, envelopeHeaders: object = {}) {
  const body = new Uint8Array(writeEnvelope({ dsn: DSN, ...envelopeHeaders }, ...items));
  const reply = await fetch(`${site.origin}/_report`, { method: 'POST', body, headers });
  const [header, payload] = site.forwarded.at(-1) ?? [];
  // biome-ignore lint/suspicious/noExplicitAny: whatever an upstream would make of it
  const event: any = payload && JSON.parse(JSON.stringify(payload));
  return { status: reply.status, body: await reply.json(), header, event, failure: site.failures.at(-1) };
}

const sendEvent = (event: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
  send([[{ type: 'event' }, createEvent({ event_id: nextId(), ...event })]], headers);

/** Returns the failure that an event becomes. */
async function read(event: Record<string, unknown>): Promise<Failure> {
  const { failure } = await sendEvent(event);
  if (!failure) throw new Error('It was not stored.');
  return failure;
}

const thrown = (...values: Record<string, unknown>[]) => read({ exception: { values } });

const counted = (type: string, outcome: string) =>
  site.counts.get(`spillway_tunnel_items_total{type=${type},outcome=${outcome}}`) ?? 0;

describe('an event', () => {
  it('is stored, and forwarded as the failure that it became', async () => {
    const tags = { cart: 'full', 'spillway.build': 'build-2' };
    const { body, event, failure } = await send(
      [[{ type: 'event' }, createEvent({ event_id: nextId(), tags, request: { url: `${site.origin}/a` } })]],
      { 'X-Forwarded-For': '6.6.6.6, 192.0.2.7', 'User-Agent': 'Mozilla/5.0 hushAgent', Cookie: 'a=canary' },
    );
    expect(failure).toMatchObject({ digest: body.digest, visitor: 'hash of 192.0.2.7', tags: { cart: 'full' } });
    expect(event).toMatchObject({
      event_id: body.id,
      ...{ release: 'v2', environment: 'production', level: 'error', fingerprint: [body.digest] },
      tags: { cart: 'full', digest: body.digest },
      request: { url: `${site.origin}/a`, headers: { 'user-agent': 'Mozilla/5.0 [redacted]' } },
      exception: { values: [{ type: 'TypeError', value: 'x is not a function' }] },
    });
    expect(JSON.stringify(site.forwarded)).not.toMatch(/canary|6\.6\.6\.6/);
    expect(counted('event', 'forwarded')).toBe(1);
  });

  it('is scrubbed in every field, for the store and for the upstream', async () => {
    const stacktrace = {
      frames: [
        ...[{ filename: '/a?hushFile', function: 'hushFunction', vars: { a: 'hushVar' }, context_line: 'hushLine' }],
        ...[{ pre_context: ['hushPre'] }],
      ],
    };
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
    const forged = Object.fromEntries(['release', 'environment', 'dist', 'server_name'].map((k) => [k, 'forged']));
    const { event, failure, body } = await sendEvent({
      ...forged,
      fingerprint: ['forged'],
      level: 'fatal',
      transaction: '/orders/7',
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
    const { transaction, level } = { transaction: '/orders/:id', level: 'warning' };
    expect(await read({ transaction, level, tags: { 'spillway.kind': 'hydration' } })).toMatchObject({
      ...{ route: '/orders/:id', level: 'warning', kind: 'hydration' },
    });
  });

  it('has the names of its cookies, not their values', async () => {
    const event = createEvent({ event_id: nextId(), request: { url: 'https://shop.example/' } });
    await send([[{ type: 'event' }, event]], { Cookie: 'sid=canary; theme=dark' });
    expect(site.failures[0]?.request?.credentials).toEqual(['sid', 'theme']);
    expect(JSON.stringify([site.failures, site.forwarded])).not.toContain('canary');
  });

  it('names only builds that are known', async () => {
    for (const forged of ['v999', '__proto__', 'constructor', '', 'x'.repeat(300), 7, {}]) {
      expect(await read({ release: forged, dist: forged })).toMatchObject({ build: '', release: '' });
    }
    expect(await read({ release: 'v9', dist: 'build-2' })).toMatchObject({ build: 'build-2', release: 'v2' });
  });

  it('does not pollute a prototype', async () => {
    const own = '{"polluted":1}';
    const payload = `{"__proto__":${own},"constructor":{"prototype":${own}},"tags":{"__proto__":${own}},"extra":{"a":{"__proto__":${own}}},"message":"a"}`;
    expect((await send([[{ type: 'event' }, payload]])).status).toBe(200);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(JSON.stringify([site.forwarded, site.failures])).not.toContain('polluted');
  });

  it('is cut to the limits', async () => {
    const long = 'x'.repeat(600);
    const crumbs = Array.from({ length: 130 }, (_, index) => ({
      message: `${index} ${long}`,
      data: { n: index, a: {} },
    }));
    const tags = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`t${index}`, index]));
    const { failure } = await sendEvent({
      exception: { values: [{ type: 'Error', value: long }] },
      breadcrumbs: { values: crumbs },
      tags,
    });
    expect([failure?.breadcrumbs?.length, Object.keys(failure?.tags ?? {}).length]).toEqual([100, 20]);
    expect(failure?.breadcrumbs?.at(-1)).toMatchObject({ category: 'default', data: { n: 129 } });
  });

  it('that matches an ignored error is answered and counted, but neither stored nor forwarded', async () => {
    const { body } = await sendEvent({
      exception: { values: [{ type: 'E', value: 'Extension context invalidated.' }] },
    });
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
      expect((await read({ tags: { 'spillway.echo': forged } })).echoOf).toBeUndefined();
    }
  });

  it('opens 50 new incidents an hour, then counts on an overflow incident', async () => {
    const forge = (name: string) => sendEvent({ exception: { values: [{ type: 'Forged', value: name }] } });
    const before = await forge('known');
    known = new Set([before.body.digest]);
    site.failures.length = 0;
    for (let turn = 0; turn < 80; turn += 1) await forge(`forged ${turn}`);
    const overflow = site.failures.filter(({ title }) => title.startsWith('More kinds of browser errors'));
    expect(new Set(site.failures.map(({ title }) => title)).size).toBeLessThanOrEqual(51);
    expect([site.failures.length, new Set(overflow.map(({ digest }) => digest)).size]).toEqual([80, 1]);
    expect(overflow.at(-1)?.extra).toEqual({ title: 'Forged: forged 79' });
    expect((await forge('known')).body.digest).toBe(before.body.digest);
  });

  it('has the time of its sender, if it is plausible', async () => {
    const minuteAgo = Date.now() - 60_000;
    for (const timestamp of [minuteAgo / 1000, new Date(minuteAgo).toISOString()]) {
      expect(Math.abs((await read({ timestamp })).at - minuteAgo)).toBeLessThan(2);
    }
    for (const timestamp of [0, -1, Date.now(), Date.now() / 1000 + 3600, 'never', null, {}, [1], undefined]) {
      expect((await read({ timestamp })).at).toBeGreaterThan(Date.now() - 30_000);
    }
  });
});

describe('the errors of an event', () => {
  const at = (source: string, id: number, parent?: number) => ({ source, exception_id: id, parent_id: parent });

  it('are ordered outermost first, with frames from the throw outwards', async () => {
    const frames = [
      { filename: `ORIGIN/assets/main-AAAAAAAA.js`, function: 'start', lineno: 1, colno: 2 },
      { filename: `ORIGIN/assets/cart-BBBBBBBB.js?v=1#x`, function: '?', lineno: 3, colno: 4 },
    ].map((frame) => ({ ...frame, filename: frame.filename.replace('ORIGIN', site.origin) }));
    const { errors } = await thrown(
      { type: 'TypeError', value: 'inner', stacktrace: { frames } },
      { type: 'AppError' },
    );
    expect(errors).toMatchObject([
      { class: 'AppError', frames: [] },
      {
        class: 'TypeError',
        frames: [
          { file: 'client/assets/cart-BBBBBBBB.js', line: 3, column: 4, function: '' },
          { file: 'client/assets/main-AAAAAAAA.js', line: 1, column: 2, function: 'start' },
        ],
      },
    ]);
  });

  it('follow causes by their ids, name the members of an aggregate, and stop at a circle', async () => {
    const { errors } = await thrown(
      { type: 'RangeError', mechanism: at('errors[1]', 2, 0) },
      { type: 'TypeError', mechanism: at('errors[0]', 1, 0) },
      { type: 'SyntaxError', mechanism: at('cause', 3, 0) },
      { type: 'AggregateError', mechanism: at('', 0) },
    );
    expect(errors).toMatchObject([
      { class: 'AggregateError', members: ['RangeError', 'TypeError'] },
      { class: 'SyntaxError' },
    ]);
    const loop = [at('cause', 0, 1), at('cause', 1, 0), at('cause', 0, 0)].map((mechanism) => ({
      type: 'E',
      mechanism,
    }));
    expect((await thrown(...loop)).errors.length).toBeLessThanOrEqual(3);
  });

  it('are limited to 10, with 50 frames each', async () => {
    const frames = Array.from({ length: 300 }, (_, line) => ({ filename: '/assets/a.js', lineno: line + 1 }));
    const { errors } = await thrown(...Array(12).fill({ type: 'E', stacktrace: { frames } }));
    expect([errors.length, errors[0]?.frames.length, errors[0]?.frames[0]?.line]).toEqual([10, 50, 300]);
  });

  it.each<[given: string | number, file: string]>([
    ['ORIGIN/orders/7?token=x', 'ORIGIN/orders/7'],
    ['https://evil.example/assets/a-BBBBBBBB.js', 'https://evil.example/assets/a-BBBBBBBB.js'],
    ['app://abcdef/inject.js', 'app://abcdef/inject.js'],
    ['https://cdn.example/hushhush/a.js?x', 'https://cdn.example/[redacted]/a.js'],
    ...['<anonymous>', '[native code]', 'data:text/javascript,alert(1)', 'https://', 12].map(
      (odd): [string | number, string] => [odd, ''],
    ),
  ])('shorten the file %s to %s', async (given, file) => {
    const filename = typeof given === 'string' ? given.replace('ORIGIN', site.origin) : given;
    const frames = [{ filename, lineno: -1, colno: 1.5 }];
    const { errors } = await thrown({ type: 'E', stacktrace: { frames } });
    const expected = { file: file.replace('ORIGIN', site.origin), line: 0, column: 0, function: '' };
    expect(errors[0]?.frames).toEqual([expected]);
  });

  it.each([
    [{ message: 'said' }, 'said'],
    [{ logentry: { message: 'said' } }, 'said'],
    [{}, ''],
  ])('are a NonError if the event is only a message: %o', async (event, message) => {
    expect((await read({ exception: undefined, ...event })).errors).toEqual([
      { class: 'NonError', message, frames: [] },
    ]);
  });

  it("omit the cause that React's SDK adds, and keep its component stack", async () => {
    const frames = [{ function: 'App' }, { function: 'Cart' }];
    const failure = await thrown(
      { type: 'React ErrorBoundary TypeError', stacktrace: { frames } },
      { type: 'TypeError' },
    );
    expect(failure.errors.map((error) => error.class)).toEqual(['TypeError']);
    expect(failure.componentStack).toBe('\n    at Cart\n    at App');
  });

  it('contain no control characters except line breaks and tabs', async () => {
    const { errors } = await thrown({ type: 'E\u0000\u001b[31m', value: 'a\u001b[2J\nb\u0085\tc' });
    expect(errors[0]).toMatchObject({ class: 'E [31m', message: 'a [2J\nb \tc' });
  });
});

it('keeps the trace, the mechanism and contexts', async () => {
  const trace = { trace_id: TRACE, span_id: SPAN, op: 'x' };
  const failure = await read({ contexts: { trace, browser: { name: 'Firefox' } }, extra: { cart: 3 } });
  expect(failure).toMatchObject({ traceId: TRACE, spanId: SPAN });
  expect(failure.extra).toEqual({ cart: 3, via: 'onerror', contexts: { browser: { name: 'Firefox' } } });
  expect((await read({ contexts: { trace: { trace_id: '0'.repeat(32) } } })).traceId).toBeUndefined();
});

describe('other items', () => {
  it('are counted and reach neither the store nor the upstream', async () => {
    const types = ['session', 'attachment', 'replay_event', 'profile', 'feedback', 'user_report', 'log', 'from_2031'];
    const items = types.map((type): Item => [{ type, length: 6 }, 'canary']);
    const event: Item = [{ type: 'event' }, createEvent({ event_id: nextId() })];
    expect((await send([...items, event, event])).status).toBe(200);
    expect([site.failures.length, site.forwarded.length]).toEqual([1, 1]);
    expect(JSON.stringify([site.failures, site.forwarded])).not.toContain('canary');
    expect([counted('other', 'dropped'), counted('event', 'dropped')]).toEqual([types.length, 1]);
  });

  it('that are broken or cut off do not lose the good event', async () => {
    const event = JSON.stringify(createEvent());
    const good = `{"dsn":"${DSN}"}\n{"type":"event"}\n`;
    for (const [envelope, ...rest] of [
      [`${good}EVENT\n{"type":"attachment","length":99}\ncut`],
      [`${good}EVENT\n{"type":"attach`],
      [`${good}EVENT\n{}\nx`],
      [`${good}EVENT\n${'x'.repeat(20_000)}\nx`],
      [`{"dsn":"${DSN}"}\n{"type":"transaction"}\nno JSON\n{"type":"event"}\nEVENT`, 'transaction'],
    ]) {
      site.failures.length = 0;
      const id = nextId();
      const body = envelope?.replace('EVENT', event.replace('fc6d8c0c43fc4630ad850ee518f1b9d0', id)) ?? '';
      const reply = await fetch(`${site.origin}/_report`, { method: 'POST', body });
      expect([reply.status, site.failures.map((failure) => failure.id)], envelope).toEqual([200, [id]]);
      for (const type of rest) expect(counted(type, 'dropped')).toBe(1);
    }
  });
});

describe('a transaction', () => {
  const span = {
    trace_id: TRACE,
    span_id: SPAN,
    parent_span_id: SPAN,
    description: 'GET /?hushSpan',
    data: { a: 'hushA' },
  };
  const transaction = {
    type: 'transaction',
    event_id: '1'.repeat(32),
    transaction: '/orders/hushName',
    ...{ start_timestamp: 1, timestamp: 2, release: 'forged', environment: 'forged', server_name: 'forged' },
    contexts: { trace: { trace_id: TRACE, span_id: SPAN, op: 'pageload', data: { url: '/?hushUrl' } } },
    spans: [span],
    tags: { a: 'hushTag', digest: 'forged' },
    user: { email: 'hushUser', ip_address: '{{auto}}' },
    request: { url: 'https://a.example/?hushQuery', headers: { Cookie: 'hushCookie' } },
    measurements: { lcp: { value: 3 } },
  };

  it('is forwarded, scrubbed like an event, and not stored', async () => {
    const trace = { trace_id: TRACE, release: 'forged', sample_rand: 'hushRand' };
    const { body, header, event } = await send([[{ type: 'transaction' }, transaction]], {}, { trace });
    const kept = { trace_id: TRACE, public_key: undefined, sample_rand: '[redacted]' };
    expect([body, header, site.failures]).toEqual([{}, { event_id: '1'.repeat(32), trace: kept }, []]);
    expect(JSON.stringify(event)).not.toMatch(/hush|forged/);
    expect(event).toMatchObject({
      ...{ type: 'transaction', event_id: '1'.repeat(32), start_timestamp: 1, timestamp: 2, environment: 'production' },
      contexts: { trace: { trace_id: TRACE, span_id: SPAN, op: 'pageload' } },
      spans: [{ trace_id: TRACE, span_id: SPAN, parent_span_id: SPAN, description: 'GET /?[redacted]' }],
      measurements: { lcp: { value: 3 } },
    });
    expect(counted('transaction', 'forwarded')).toBe(1);
  });

  it('has at most 1,000 spans', async () => {
    const { event } = await send([[{ type: 'transaction' }, { ...transaction, spans: Array(2000).fill({ op: 'x' }) }]]);
    expect(event.spans).toHaveLength(1000);
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

describe('any input', () => {
  it('with the keys of an event becomes a failure, and an event or a transaction to forward', () => {
    const value = fc.jsonValue({ maxDepth: 4 });
    const error = fc.record({ type: value, value, mechanism: value, stacktrace: fc.record({ frames: value }) });
    const crumb = fc.record({ message: value, data: value, timestamp: value, level: value, category: value });
    const keys = [
      'tags',
      'contexts',
      'extra',
      'request',
      'user',
      'message',
      'logentry',
      'threads',
      'timestamp',
      'level',
    ];
    const more = ['sdk', 'debug_meta', 'transaction', 'dist', 'release', 'platform', 'spans', 'start_timestamp'];
    const events = fc.record({
      exception: fc.oneof(value, fc.record({ values: fc.oneof(value, fc.array(error)) })),
      breadcrumbs: fc.oneof(value, fc.array(crumb)),
      ...Object.fromEntries([...keys, ...more].map((key) => [key, value])),
    });
    const id = 'fc6d8c0c43fc4630ad850ee518f1b9d0';
    const build = { build: '', release: '' };
    const sender = {
      origin: 'https://a.example',
      isOurs: () => false,
      userAgent: 'x',
      credentials: [],
      visitor: 'v',
    };
    const parts = {
      ...{ scrubber: fakeScrubber, makeDigest: makeFakeDigest, findBuild: async () => undefined },
      isRoute: () => false,
    };
    const believed = { id, build, environment: undefined };
    fc.assert(
      fc.property(events, (given) => {
        const event = given as JsonRecord;
        expect(toFailure(event, { id, build, sender }, parts)).toMatchObject({
          id,
          side: 'browser',
          kind: 'exception',
        });
        expect(JSON.stringify(rewriteTransaction(event, believed, fakeScrubber))).toContain(id);
      }),
      { numRuns: 500 },
    );
  });

  it('is an envelope, or is refused', () => {
    const sound = writeEnvelope(
      { dsn: 'https://spillway@shop.example/1' },
      [{ type: 'event' }, { message: 'a' }],
      [{ type: 'attachment', length: 4 }, 'a\nb\n'],
    );
    const parse = (input: Uint8Array) => {
      try {
        return parseEnvelope(input).items.length;
      } catch (error) {
        if (error instanceof ReportError) return error.status;
        throw error;
      }
    };
    expect(parse(sound)).toBe(2);
    const mutation = fc.record({ at: fc.nat(sound.length), remove: fc.nat(12), put: fc.uint8Array({ maxLength: 12 }) });
    fc.assert(
      fc.property(fc.array(mutation, { minLength: 1, maxLength: 6 }), (mutations) => {
        let mutant: Uint8Array = sound;
        for (const { at, remove, put } of mutations) {
          mutant = Buffer.concat([mutant.subarray(0, at), put, mutant.subarray(at + remove)]);
        }
        parse(mutant);
      }),
      { numRuns: 2000 },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (noise) => void parse(noise)),
      { numRuns: 1000 },
    );
  });
});
