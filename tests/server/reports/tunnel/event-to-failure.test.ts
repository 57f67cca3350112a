import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findBuild, toEventId, toFailure } from '../../../../src/server/reports/tunnel/event-to-failure.ts';
import type { JsonRecord } from '../../../../src/server/reports/tunnel/report-json.ts';
import type { FailureParts, KnownBuild, Sender } from '../../../../src/server/reports/tunnel/report-parts.ts';
import { rewriteEvent } from '../../../../src/server/reports/tunnel/rewrite-event.ts';
import { createEvent, fakeScrubber, makeFakeDigest } from '../../../support/tunnel-site.ts';

const NOW = Date.UTC(2026, 10, 21, 12);
const ID = 'fc6d8c0c43fc4630ad850ee518f1b9d0';

const NO_BUILD: KnownBuild = { build: '', release: '' };

const parts: FailureParts = {
  scrubber: fakeScrubber,
  makeDigest: makeFakeDigest,
  findBuild: async (named) => (named === 'build-2' ? { build: 'build-2', release: 'v2' } : undefined),
  isRoute: (pattern) => pattern === '/orders/:id',
  trim: (failure) => failure,
  now: () => NOW,
};

const sender: Sender = {
  address: '203.0.113.7',
  origin: 'https://shop.example',
  isOurs: (origin) => origin === 'https://www.shop.example',
  userAgent: 'Mozilla/5.0 hushAgent',
  credentials: ['sid', 'hushCookie'],
  visitor: 'visitor-1',
  sameVisitor: [],
};

function read(event: JsonRecord) {
  return toFailure(event, { id: ID, build: NO_BUILD, sender }, parts);
}

function thrown(...values: Record<string, unknown>[]): JsonRecord {
  return createEvent({ exception: { values } });
}

describe('errors', () => {
  it('are ordered outermost first, with frames from the throw outwards', () => {
    const frames = [
      { filename: 'https://shop.example/assets/main-AAAAAAAA.js', function: 'start', lineno: 1, colno: 2 },
      { filename: 'https://shop.example/assets/cart-BBBBBBBB.js?v=1#x', function: '?', lineno: 3, colno: 4 },
    ];
    const { errors } = read(
      thrown(
        { type: 'TypeError', value: 'inner', stacktrace: { frames } },
        { type: 'AppError', value: 'outer', stacktrace: { frames: [] } },
      ),
    );
    expect(errors).toEqual([
      { class: 'AppError', message: 'outer', frames: [] },
      {
        class: 'TypeError',
        message: 'inner',
        frames: [
          { file: 'client/assets/cart-BBBBBBBB.js', line: 3, column: 4, function: '' },
          { file: 'client/assets/main-AAAAAAAA.js', line: 1, column: 2, function: 'start' },
        ],
      },
    ]);
  });

  it('follow causes by their ids, and name the members of an aggregate', () => {
    const { errors } = read(
      thrown(
        {
          type: 'RangeError',
          value: 'r',
          mechanism: { type: 'chained', source: 'errors[1]', exception_id: 2, parent_id: 0 },
        },
        {
          type: 'TypeError',
          value: 't',
          mechanism: { type: 'chained', source: 'errors[0]', exception_id: 1, parent_id: 0 },
        },
        {
          type: 'SyntaxError',
          value: 's',
          mechanism: { type: 'chained', source: 'cause', exception_id: 3, parent_id: 0 },
        },
        {
          type: 'AggregateError',
          value: 'all',
          mechanism: { type: 'generic', exception_id: 0, is_exception_group: true },
        },
      ),
    );
    expect(errors).toEqual([
      { class: 'AggregateError', message: 'all', frames: [], members: ['RangeError', 'TypeError'] },
      { class: 'SyntaxError', message: 's', frames: [] },
    ]);
  });

  it('stop at circular causes', () => {
    const loop = (id: number, parent: number) => ({
      type: 'Error',
      mechanism: { source: 'cause', exception_id: id, parent_id: parent },
    });
    expect(read(thrown(loop(0, 1), loop(1, 0), loop(0, 0))).errors.length).toBeLessThanOrEqual(3);
  });

  it('are limited to 10, with 50 frames each', () => {
    const frames = Array.from({ length: 300 }, (_, line) => ({ filename: '/assets/a.js', lineno: line + 1 }));
    const { errors } = read(
      thrown(...Array.from({ length: 99 }, () => ({ type: 'E', value: 'x', stacktrace: { frames } }))),
    );
    expect(errors).toHaveLength(10);
    expect(errors[0]?.frames.map(({ line }) => line)).toEqual(Array.from({ length: 50 }, (_, index) => 300 - index));
  });

  it.each([
    ['https://shop.example/assets/a-BBBBBBBB.js', 'client/assets/a-BBBBBBBB.js'],
    ['https://www.shop.example/assets/a-BBBBBBBB.js', 'client/assets/a-BBBBBBBB.js'],
    ['https://evil.example/assets/a-BBBBBBBB.js', 'https://evil.example/assets/a-BBBBBBBB.js'],
    ['https://shop.example/orders/7?token=x', 'https://shop.example/orders/7'],
    ['chrome-extension://abcdef/inject.js', 'chrome-extension://abcdef/inject.js'],
    ['https://cdn.example/hushhush/a.js?x', 'https://cdn.example/[redacted]/a.js'],
    ['<anonymous>', ''],
    ['[native code]', ''],
    ['data:text/javascript,alert(1)', ''],
    ['blob:https://shop.example/uuid', ''],
    ['https://', ''],
    [12, ''],
    [undefined, ''],
  ])('shorten the file %s to %s', (filename, file) => {
    const { errors } = read(
      thrown({ type: 'E', stacktrace: { frames: [{ filename, lineno: -1, colno: Number.POSITIVE_INFINITY }] } }),
    );
    expect(errors[0]?.frames).toEqual([{ file, line: 0, column: 0, function: '' }]);
  });

  it('are a NonError if the event is only a message', () => {
    expect(read({ message: 'said' }).errors).toEqual([{ class: 'NonError', message: 'said', frames: [] }]);
    expect(read({ logentry: { message: 'said' } }).errors[0]?.message).toBe('said');
    expect(read({}).errors).toEqual([{ class: 'NonError', message: '', frames: [] }]);
  });

  it("omit the cause that React's SDK adds, and keep its component stack", () => {
    const frames = [{ function: 'App' }, { function: 'Cart' }];
    const failure = read(
      thrown(
        { type: 'React ErrorBoundary TypeError', value: 'x', stacktrace: { frames } },
        { type: 'TypeError', value: 'x' },
      ),
    );
    expect(failure.errors.map((error) => error.class)).toEqual(['TypeError']);
    expect(failure.componentStack).toBe('\n    at Cart\n    at App');
  });

  it('of any other shape are read without throwing', () => {
    const odd = [null, 1, 'x', [], {}, { values: 1 }, { values: [null, 1, []] }, { values: [{ stacktrace: 1 }] }];
    for (const exception of odd) {
      expect(
        read({ exception, breadcrumbs: exception, contexts: exception, tags: exception, extra: exception }).id,
      ).toBe(ID);
    }
    expect(
      read(thrown({ type: 1, value: {}, mechanism: 1, stacktrace: { frames: [1, null, { function: 7 }] } })).title,
    ).toBe('Error: ');
  });
});

it('creates a failure, and an event to forward, from any JSON with the keys of an event', () => {
  const value = fc.jsonValue({ maxDepth: 4 });
  const list = fc.oneof(
    value,
    fc.array(fc.record({ type: value, value, mechanism: value, stacktrace: fc.record({ frames: value }) })),
  );
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
    'sdk',
    'debug_meta',
    'transaction',
    'dist',
    'release',
    'platform',
  ];
  const events = fc.record({
    exception: fc.oneof(value, fc.record({ values: list })),
    breadcrumbs: fc.oneof(
      value,
      fc.array(fc.record({ message: value, data: value, timestamp: value, level: value, category: value })),
    ),
    ...Object.fromEntries(keys.map((key) => [key, value])),
  });
  const believed = { id: ID, build: { build: '', release: '' }, environment: undefined, tags: {} };
  fc.assert(
    fc.property(events, (event) => {
      const failure = read(event as JsonRecord);
      expect(failure.errors.length).toBeGreaterThan(0);
      expect(JSON.parse(JSON.stringify(failure))).toMatchObject({
        id: ID,
        side: 'browser',
        origin: 'browser',
        kind: 'exception',
      });
      expect(JSON.stringify(rewriteEvent(event as JsonRecord, believed, fakeScrubber))).toContain(ID);
    }),
    { numRuns: 500 },
  );
});

describe('data from a stranger', () => {
  it('can name only known builds', async () => {
    const known = { build: 'build-2', release: 'v2' };
    expect(await findBuild(createEvent({ tags: { 'spillway.build': 'build-2' } }), parts)).toEqual(known);
    expect(await findBuild(createEvent({ dist: 'build-2', release: 'v9' }), parts)).toEqual(known);
    for (const forged of ['v999', '__proto__', 'constructor', '', 'x'.repeat(300), 7, {}]) {
      expect(await findBuild(createEvent({ release: forged, dist: forged }), parts)).toEqual(NO_BUILD);
    }
  });

  it('can be reported as a warning, which changes only how it is shown', () => {
    expect(read(createEvent({ level: 'warning' }))).toMatchObject({ level: 'warning' });
    for (const level of ['error', 'fatal', 'debug', { warning: 1 }]) {
      expect(read(createEvent({ level }))).not.toHaveProperty('level');
    }
  });

  it('cannot set the fingerprint, level, environment or digest', () => {
    const forged = { fingerprint: ['f'], level: 'fatal', environment: 'forged', server_name: 's', digest: 'AAAAAAAA' };
    const tags = { digest: 'd', environment: 'e', release: 'r', incident: 'i', 'spillway.other': 'o', fine: 1 };
    const plain = read(createEvent());
    const failure = read(createEvent({ ...forged, tags }));
    expect(failure.digest).toBe(plain.digest);
    expect(failure.tags).toEqual({ fine: '1' });
    expect(JSON.stringify(failure)).not.toMatch(/forged|fatal/);
  });

  it('can name only a route of this site', () => {
    expect(read(createEvent({ transaction: '/orders/:id' })).route).toBe('/orders/:id');
    expect(read(createEvent({ transaction: '/orders/7' })).route).toBeUndefined();
  });

  it('can name only kinds that browsers report', () => {
    expect(read(createEvent({ tags: { 'spillway.kind': 'hydration' } })).kind).toBe('hydration');
    for (const kind of ['unclean-death', 'blocked-loop', 'csp', 'crash', '__proto__', 'made-up', 7, ['hydration']]) {
      expect(read(createEvent({ tags: { 'spillway.kind': kind } })).kind).toBe('exception');
    }
  });

  it('is an echo of a server failure if it has its address', () => {
    expect(read(createEvent({ tags: { 'spillway.echo': '7K3QM2XA-9F4W0R6B' } }))).toMatchObject({
      digest: '7K3QM2XA',
      echoOf: '7K3QM2XA-9F4W0R6B',
    });
    for (const forged of [
      '7K3QM2XA',
      '7K3QM2XA-9F4W0R6',
      '7k3qm2xa-9f4w0r6b',
      '7K3QM2XU-9F4W0R6B',
      7,
      ['7K3QM2XA-9F4W0R6B'],
    ]) {
      expect(read(createEvent({ tags: { 'spillway.echo': forged } })).echoOf).toBeUndefined();
    }
  });

  it('sets the time from its own clock, if it is plausible', () => {
    expect(read(createEvent({ timestamp: NOW / 1000 - 60 })).at).toBe(NOW - 60_000);
    expect(read(createEvent({ timestamp: '2026-11-21T11:59:00Z' })).at).toBe(NOW - 60_000);
    for (const timestamp of [
      0,
      -1,
      NOW,
      NOW / 1000 + 3600,
      Number.POSITIVE_INFINITY,
      'never',
      null,
      {},
      [1],
      undefined,
    ]) {
      expect(read(createEvent({ timestamp })).at).toBe(NOW);
    }
  });
});

describe('additional data', () => {
  it('is scrubbed', () => {
    const failure = read(
      createEvent({
        exception: {
          values: [{ type: 'E', value: 'hushMessage', stacktrace: { frames: [{ function: 'hushName' }] } }],
        },
        request: {
          url: 'https://shop.example/a?token=hushUrl',
          headers: { Cookie: 'hushCookie' },
          cookies: 'hushCookie',
          data: 'hushBody',
        },
        breadcrumbs: [
          { category: 'fetch', message: 'hushCrumb', data: { url: '/x?hushQuery', body: { deep: 'hushDeep' } } },
        ],
        tags: { a: 'hushTag' },
        extra: { a: { b: 'hushExtra' } },
        contexts: { app: { a: 'hushContext' }, react: { componentStack: '\n at hushComponent', said: 'hushSaid' } },
        user: { email: 'hushUser' },
      }),
    );
    expect(JSON.stringify(failure)).not.toMatch(/hush/);
    expect(failure.request).toEqual({
      method: 'GET',
      url: 'https://shop.example/a?token=[redacted]',
      headers: { 'user-agent': 'Mozilla/5.0 [redacted]' },
      credentials: ['sid', '[redacted]'],
    });
    expect(failure).not.toHaveProperty('user');
  });

  it('includes the last 100 breadcrumbs, with plain values only', () => {
    const crumbs = Array.from({ length: 150 }, (_, index) => ({
      message: `m${index}`,
      timestamp: NOW / 1000,
      level: 'log',
      data: { n: index, deep: {} },
    }));
    const { breadcrumbs } = read(createEvent({ breadcrumbs: { values: crumbs } }));
    expect(breadcrumbs).toHaveLength(100);
    expect(breadcrumbs?.at(-1)).toEqual({
      at: NOW,
      category: 'default',
      message: 'm149',
      level: 'info',
      data: { n: 149 },
    });
  });

  it('includes 50 tags, from an object or from pairs', () => {
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`t${index}`, index]));
    expect(Object.keys(read(createEvent({ tags: many })).tags ?? {})).toHaveLength(50);
    expect(read(createEvent({ tags: [['a', 'b'], ['__proto__', 'x'], [1, 2], 'c'] })).tags).toEqual({ a: 'b' });
  });

  it('includes trace, mechanism and contexts', () => {
    const trace = { trace_id: 'a'.repeat(32), span_id: 'b'.repeat(16), op: 'x' };
    const failure = read(createEvent({ contexts: { trace, browser: { name: 'Firefox' } }, extra: { cart: 3 } }));
    expect(failure).toMatchObject({ traceId: trace.trace_id, spanId: trace.span_id });
    expect(failure.extra).toEqual({ cart: 3, via: 'onerror', contexts: { browser: { name: 'Firefox' } } });
    expect(
      read(createEvent({ contexts: { trace: { trace_id: '0'.repeat(32), span_id: 'X' } } })).traceId,
    ).toBeUndefined();
  });

  it('contains no control characters except line breaks and tabs', () => {
    const { errors } = read(thrown({ type: 'E\u0000\u001b[31m', value: 'a\u001b[2J\nb\u0085\tc' }));
    expect(errors[0]).toMatchObject({ class: 'E [31m', message: 'a [2J\nb \tc' });
  });
});

describe('toEventId()', () => {
  it('accepts 32 hexadecimal digits, with or without hyphens', () => {
    expect(toEventId(ID.toUpperCase())).toBe(ID);
    expect(toEventId('fc6d8c0c-43fc-4630-ad85-0ee518f1b9d0')).toBe(ID);
    expect(toEventId(undefined, ID)).toBe(ID);
  });

  it('creates a new id for anything else', () => {
    const ids = ['', '0'.repeat(32), 'g'.repeat(32), ID.slice(1), `${ID}0`, 7, null, [ID], {}].map((told) =>
      toEventId(told),
    );
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
  });
});
