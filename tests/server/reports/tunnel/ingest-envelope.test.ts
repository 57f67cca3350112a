import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type EnvelopeItem, parseEnvelope } from '../../../../src/server/reports/tunnel/envelope.ts';
import { askRaw } from '../../../support/raw-http.ts';
import { createEvent, startTunnelSite, type TunnelSite, writeEnvelope } from '../../../support/tunnel-site.ts';

const DSN = 'https://abc123@o1.ingest.example/7';

let site: TunnelSite;
let serial = 0;
const known = new Set<string>();

beforeAll(async () => {
  site = await startTunnelSite({
    upstreamDsn: DSN,
    environment: 'production',
    publicOrigins: [],
    trustProxy: ['loopback'],
    isKnownDigest: (digest) => known.has(digest),
    ignore: ({ errors }) => (errors[0]?.message === 'noise' ? 'extension' : undefined),
    ignoreTransaction: (payload) => (JSON.stringify(payload).includes('not_found') ? 'not-found' : undefined),
  });
});
afterAll(() => site.close());
beforeEach(() => {
  site.failures.length = 0;
  site.feedback.length = 0;
  site.forwarded.length = 0;
  site.limits = undefined;
});

function nextId(): string {
  serial += 1;
  return serial.toString(16).padStart(32, 'b');
}

type Items = readonly (readonly [headers: Record<string, unknown>, payload: unknown])[];

async function send(items: Items, headers: Record<string, string> = {}, envelopeHeaders: object = {}) {
  const body = new Uint8Array(writeEnvelope({ dsn: DSN, ...envelopeHeaders }, ...items));
  const reply = await fetch(`${site.origin}/_report`, { method: 'POST', body, headers });
  return { status: reply.status, headers: reply.headers, body: await reply.json() };
}

function sendEvent(event: Record<string, unknown>) {
  return send([[{ type: 'event' }, createEvent({ event_id: nextId(), ...event })]]);
}

/** Returns what the upstream received last. */
function arrived() {
  const { bytes, category, headers } = site.forwarded.at(-1) ?? { bytes: Buffer.alloc(0), category: '', headers: {} };
  const envelope = parseEnvelope(bytes);
  return { envelope, category, headers, event: json(envelope.items[0]) };
}

// biome-ignore lint/suspicious/noExplicitAny: whatever an upstream would make of it
function json(item: EnvelopeItem | undefined): any {
  return JSON.parse(Buffer.from(item?.payload ?? '{}').toString());
}

describe('an event', () => {
  it('is forwarded with its digest, a link and its new length', async () => {
    const { body } = await sendEvent({ tags: { cart: 'full', 'spillway.build': 'build-2' }, release: 'build-2' });
    const { envelope, event, category } = arrived();
    const failure = site.failures.at(-1);
    expect(category).toBe('error');
    expect(envelope.headers).toEqual({ dsn: DSN, event_id: body.id });
    expect(envelope.items[0]?.headers).toEqual({ type: 'event', length: envelope.items[0]?.payload.length });
    expect(event).toMatchObject({
      event_id: body.id,
      release: 'v2',
      dist: 'build-2',
      environment: 'production',
      tags: {
        cart: 'full',
        digest: body.digest,
        incident: `/failures/${body.digest}-${failure?.occurrence}`,
      },
      exception: { values: [{ type: 'TypeError', value: 'x is not a function' }] },
    });
    expect(event.exception.values[0].stacktrace.frames).toEqual([
      { filename: 'https://shop.example/assets/home-X7K2QM2X.js', lineno: 1, colno: 20 },
    ]);
  });

  it('links to the failure under the configured origin, with any Host header', async () => {
    const publicOrigins = ['https://shop.example', 'https://www.shop.example'];
    const shop = await startTunnelSite({ upstreamDsn: DSN, publicOrigins });
    const body = writeEnvelope({ dsn: DSN }, [{ type: 'event' }, createEvent()]).toString('latin1');
    await askRaw(
      shop.port,
      'POST /_report HTTP/1.1',
      ['Host: www.shop.example', `Content-Length: ${body.length}`],
      body,
    );
    const passed = json(parseEnvelope(shop.forwarded[0]?.bytes ?? Buffer.from('{}')).items[0]);
    expect(passed.tags.incident).toMatch(/^https:\/\/shop\.example\/failures\/[0-9A-Z]{8}-[0-9A-Z]{8}$/);
    shop.close();
  });

  it('contains no field that strangers cannot set', async () => {
    const words = ['release', 'environment', 'dist', 'server_name', 'logger2'].map((key) => [key, `forged-${key}`]);
    const { logger2: _logger, ...forged } = Object.fromEntries(words);
    await send(
      [
        [
          { type: 'event' },
          createEvent({
            ...forged,
            event_id: nextId(),
            fingerprint: ['forged'],
            level: 'fatal',
            tags: { digest: 'forged', incident: 'https://forged.example', release: 'forged', environment: 'forged' },
            user: { id: '7', ip_address: '6.6.6.6' },
            request: {
              url: 'https://shop.example/',
              cookies: 'forged',
              headers: { Authorization: 'forged' },
              data: 'forged',
              env: { a: 'forged' },
            },
          }),
        ],
      ],
      {},
      { trace: { trace_id: 'a'.repeat(32), release: 'forged', environment: 'forged' } },
    );
    const text = site.forwarded.at(-1)?.bytes.toString() ?? '';
    expect(text).not.toMatch(/forged|fatal|fingerprint|6\.6\.6\.6/);
    expect(arrived().event).toMatchObject({
      level: 'error',
      user: { id: '7' },
      request: { url: 'https://shop.example/' },
    });
    expect(arrived().envelope.headers.trace).toEqual({ trace_id: 'a'.repeat(32) });
  });

  it('is scrubbed in every field', async () => {
    await sendEvent({
      message: 'hushMessage',
      logentry: { message: 'hushEntry', params: ['hushParam'] },
      exception: {
        values: [
          {
            type: 'hushType',
            value: 'hushValue',
            mechanism: { type: 'x', data: { a: 'hushMechanism' } },
            stacktrace: {
              frames: [
                {
                  filename: '/a?hushFile',
                  function: 'hushFunction',
                  vars: { a: 'hushVar' },
                  context_line: 'hushLine',
                  pre_context: ['hushPre'],
                },
              ],
            },
          },
        ],
      },
      breadcrumbs: [{ message: 'hushCrumb', data: { url: '/?hushCrumbUrl' } }],
      contexts: {
        a: { b: 'hushContext' },
        react: { componentStack: 'hushStack' },
        trace: { trace_id: 'c'.repeat(32), data: { a: 'hushTrace' } },
      },
      extra: { a: ['hushExtra'] },
      tags: { a: 'hushTag' },
      user: { name: 'hushUser' },
      request: { url: '/?hushUrl' },
      sdk: { name: 'hushSdk' },
      threads: { values: [{ stacktrace: { frames: [{ function: 'hushThread' }] } }] },
      debug_meta: { images: [{ type: 'sourcemap', code_file: '/hushImage.js', debug_id: 'a'.repeat(32) }] },
      made_up_in_2031: { deep: { deeper: 'hushFuture' } },
      transaction: 'hushTransaction',
    });
    expect(site.forwarded.at(-1)?.bytes.toString()).not.toMatch(/hush/);
    expect(arrived().event).toMatchObject({
      contexts: { trace: { trace_id: 'c'.repeat(32) } },
      debug_meta: { images: [{ debug_id: 'a'.repeat(32) }] },
      made_up_in_2031: { deep: { deeper: '[redacted]' } },
    });
  });

  it('does not pollute a prototype', async () => {
    const payload =
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"tags":{"__proto__":{"polluted":1}},"extra":{"a":{"__proto__":{"polluted":1}}},"message":"a"}';
    expect((await send([[{ type: 'event', __proto__: { polluted: 1 } }, payload]])).status).toBe(200);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(site.forwarded.at(-1)?.bytes.toString()).not.toContain('polluted');
    expect(JSON.stringify(site.failures)).not.toContain('polluted');
  });

  it('is cut to the limits, and names the cut fields', async () => {
    const long = 'x'.repeat(600);
    await sendEvent({
      exception: { values: [{ type: 'Error', value: long }] },
      breadcrumbs: Array.from({ length: 130 }, (_, index) => ({ message: `${index} ${long}`, category: 'c' })),
    });
    const { event } = arrived();
    expect(event.exception.values[0].value).toBe(`${'x'.repeat(249)}…`);
    expect(event.breadcrumbs).toHaveLength(100);
    expect(event.tags.cut).toBe('breadcrumbs,values');
  });

  it.each([
    ['deep extras', { extra: { a: { b: { c: Array.from({ length: 3000 }, () => 'y'.repeat(60)) } } } }, 'depth'],
    [
      'long breadcrumbs',
      {
        breadcrumbs: Array.from({ length: 99 }, () => ({
          data: Object.fromEntries(Array.from({ length: 20 }, (_, key) => [`k${key}`, 'y'.repeat(90)])),
        })),
      },
      'depth,breadcrumbs',
    ],
    [
      'wide extras',
      { extra: Object.fromEntries(Array.from({ length: 2000 }, (_, key) => [`k${key}`, 'y'.repeat(90)])) },
      'depth,breadcrumbs,extra',
    ],
    [
      'everything',
      { contexts: Object.fromEntries(Array.from({ length: 2000 }, (_, key) => [`k${key}`, { a: 'y'.repeat(90) }])) },
      'depth,breadcrumbs,extra,stub',
    ],
  ])('fits into 100 KB: %s', async (_name, event, cut) => {
    await sendEvent(event);
    const item = arrived().envelope.items[0];
    expect(item?.payload.length).toBeLessThanOrEqual(100 * 1024 + 200);
    expect(arrived().event.tags.cut).toBe(cut);
    expect(arrived().event.exception.values[0].value).toBe('x is not a function');
  });

  it('that matches an ignored error is answered, counted and dropped with its attachments', async () => {
    const noise = createEvent({ event_id: nextId(), exception: { values: [{ type: 'E', value: 'noise' }] } });
    const { body } = await send([
      [{ type: 'event' }, noise],
      [{ type: 'attachment', length: 1 }, 'a'],
      [{ type: 'session' }, '{}'],
    ]);
    expect(body).toEqual({ id: noise.event_id });
    expect(site.failures).toEqual([]);
    expect(arrived().envelope.items.map(({ type }) => type)).toEqual(['session']);
    expect(site.counts.get('spillway_reports_ignored_total{reason=extension}')).toBe(1);
  });

  it("counts on the server's incident if it is an echo", async () => {
    const { body } = await sendEvent({ tags: { 'spillway.echo': '7K3QM2XA-9F4W0R6B' } });
    expect(body.digest).toBe('7K3QM2XA');
    expect(site.failures).toMatchObject([{ digest: '7K3QM2XA', echoOf: '7K3QM2XA-9F4W0R6B' }]);
    expect(arrived().event.tags).toEqual({ digest: '7K3QM2XA', incident: '/failures/7K3QM2XA-9F4W0R6B' });
  });

  it('creates 50 new incidents an hour, then counts on an overflow incident', async () => {
    const forge = (name: string) => sendEvent({ exception: { values: [{ type: 'Forged', value: name }] } });
    const before = await forge('known');
    known.add(before.body.digest);
    site.failures.length = 0;
    for (let turn = 0; turn < 80; turn += 1) await forge(`forged ${turn}`);
    const titles = new Set(site.failures.map(({ title }) => title));
    const overflow = site.failures.filter(({ title }) => title.startsWith('More kinds of browser errors'));
    expect(site.failures).toHaveLength(80);
    expect(titles.size).toBeLessThanOrEqual(51);
    expect(new Set(overflow.map(({ digest }) => digest)).size).toBe(1);
    expect(overflow.at(-1)?.extra).toEqual({ title: 'Forged: forged 79' });
    expect((await forge('known')).body.digest).toBe(before.body.digest);
    expect((await sendEvent({ tags: { 'spillway.echo': '7K3QM2XA-9F4W0R6B' } })).body.digest).toBe('7K3QM2XA');
  });
});

describe('a malformed envelope', () => {
  it.each([
    ['an empty user report', { type: 'user_report' }, { comments: '' }],
    ['a transaction that is not JSON', { type: 'transaction' }, '{'],
    ['a second event', { type: 'event' }, createEvent()],
  ])('changes nothing: %s', async (_name, headers, payload) => {
    const event = createEvent({ event_id: nextId() });
    const body = writeEnvelope({ dsn: DSN }, [{ type: 'event' }, event], [headers, payload]);
    const reply = await fetch(`${site.origin}/_report`, { method: 'POST', body: new Uint8Array(body) });
    expect([reply.status, site.failures, site.forwarded]).toEqual([400, [], []]);
    expect((await send([[{ type: 'event' }, event]])).status).toBe(200);
    expect(site.failures).toHaveLength(1);
  });
});

describe('the same event sent several times simultaneously', () => {
  it('is stored once', async () => {
    const event = createEvent({ event_id: nextId() });
    await Promise.all(Array.from({ length: 5 }, () => send([[{ type: 'event' }, event]])));
    expect([site.failures.length, site.forwarded.length]).toEqual([1, 1]);
  });
});

describe('feedback', () => {
  it('is stored and forwarded, scrubbed except for the reply address', async () => {
    const about = 'c'.repeat(32);
    const id = nextId();
    const feedback = {
      message: ` It broke hushPassword ${'x'.repeat(400)}`,
      contact_email: 'ann@example.com',
      name: 'Ann\u0000 hushName',
      url: 'https://shop.example/a?hushToken',
      source: 'widget',
      associated_event_id: about,
    };
    const event = {
      type: 'feedback',
      event_id: id,
      level: 'info',
      contexts: { feedback, trace: { trace_id: 'd'.repeat(32) } },
      tags: { a: 'b' },
    };
    const { status, body } = await send([[{ type: 'feedback' }, event]]);
    expect([status, body]).toEqual([200, { id }]);
    const text = `It broke [redacted] ${'x'.repeat(400)}`;
    expect(site.feedback).toMatchObject([
      {
        id,
        eventId: about,
        text,
        name: 'Ann [redacted]',
        email: 'ann@example.com',
        url: 'https://shop.example/a?[redacted]',
      },
    ]);
    const { event: passed, envelope, category } = arrived();
    expect(category).toBe('feedback');
    expect(passed).toMatchObject({
      type: 'feedback',
      event_id: id,
      level: 'info',
      tags: { a: 'b' },
      contexts: { trace: { trace_id: 'd'.repeat(32) } },
    });
    expect(passed.contexts.feedback).toMatchObject({
      message: text,
      contact_email: 'ann@example.com',
      name: 'Ann [redacted]',
      source: 'widget',
      associated_event_id: about,
    });
    expect(envelope.items[0]?.headers.length).toBe(envelope.items[0]?.payload.length);
  });

  it('in the old format is stored and forwarded', async () => {
    const report = { event_id: 'c'.repeat(32), name: 'Ann', email: 'no address', comments: 'hushIt broke', more: 1 };
    expect((await send([[{ type: 'user_report' }, report]])).body).toEqual({});
    expect(site.feedback).toMatchObject([{ eventId: 'c'.repeat(32), name: 'Ann', text: '[redacted] broke' }]);
    expect(site.feedback[0]?.email).toBeUndefined();
    expect(arrived().event).toEqual({ event_id: 'c'.repeat(32), name: 'Ann', email: '', comments: '[redacted] broke' });
    expect(arrived().category).toBe('default');
  });
});

describe('any other item', () => {
  const noise = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

  it.each([
    ['transaction', 'transaction'],
    ['session', 'session'],
    ['sessions', 'session'],
    ['attachment', 'attachment'],
    ['client_report', 'internal'],
    ['replay_event', 'replay'],
    ['replay_recording', 'replay'],
    ['profile', 'profile'],
    ['profile_chunk', 'profile'],
    ['check_in', 'monitor'],
    ['span', 'span'],
    ['log', 'log_item'],
    ['metric', 'trace_metric'],
    ['trace_metric', 'trace_metric'],
    ['raw_security', 'security'],
    ['from_2031', 'from_2031'],
  ])('of type %s is forwarded byte for byte', async (type, category) => {
    const headers = { type, item_count: 2, length: noise.length, odd: { a: [1, '\u2028'] } };
    const payload = type === 'transaction' ? '{"type":"transaction"}' : noise;
    const item = [type === 'transaction' ? { type } : headers, payload] as const;
    expect((await send([item])).status).toBe(200);
    expect(site.forwarded.at(-1)).toMatchObject({ category });
    expect(site.forwarded.at(-1)?.bytes.equals(writeEnvelope({ dsn: DSN }, item))).toBe(true);
  });

  it('keeps its bytes when it is sent with an event', async () => {
    await send([
      [{ type: 'event' }, createEvent({ event_id: nextId() })],
      [{ type: 'attachment', length: noise.length, filename: 'a' }, noise],
    ]);
    expect(Buffer.from(arrived().envelope.items[1]?.payload ?? []).equals(noise)).toBe(true);
  });

  it('is dropped if it is the transaction of a page that does not exist', async () => {
    await send([[{ type: 'transaction' }, { contexts: { trace: { status: 'not_found' } } }]]);
    expect(site.forwarded).toEqual([]);
    expect(site.counts.get('spillway_reports_ignored_total{reason=not-found}')).toBe(1);
  });

  it('is dropped and counted without an upstream', async () => {
    const alone = await startTunnelSite();
    const body = writeEnvelope(
      { dsn: `http://spillway@127.0.0.1:${alone.port}/1` },
      [{ type: 'replay_event' }, '{}'],
      [{ type: 'from_2031' }, 'x'],
    );
    const reply = await fetch(`${alone.origin}/_report`, { method: 'POST', body: new Uint8Array(body) });
    expect([reply.status, await reply.json()]).toEqual([200, {}]);
    expect(alone.counts.get('spillway_tunnel_items_total{type=replay_event,outcome=dropped}')).toBe(1);
    expect(alone.counts.get('spillway_tunnel_items_total{type=other,outcome=dropped}')).toBe(1);
    alone.close();
  });
});

describe('the upstream', () => {
  it("receives the sender's address from trusted proxies, and three headers", async () => {
    await send([[{ type: 'session' }, '{}']], {
      'X-Forwarded-For': '6.6.6.6, 192.0.2.7',
      'X-Sentry-Forwarded-For': '6.6.6.6',
      'X-Real-IP': '6.6.6.6',
      Forwarded: 'for=6.6.6.6',
      'User-Agent': 'Mozilla/5.0',
      Origin: site.origin,
      Referer: `${site.origin}/a?hushToken`,
      Cookie: 'a=canary',
      Authorization: 'Bearer canary',
      'Proxy-Authorization': 'canary',
      'X-Sentry-Auth': 'canary',
      'X-Api-Key': 'canary',
    });
    expect(arrived().headers).toEqual({
      'X-Sentry-Forwarded-For': '192.0.2.7',
      'User-Agent': 'Mozilla/5.0',
      Origin: site.origin,
      Referer: `${site.origin}/a?[redacted]`,
    });
  });
});

describe('the sender', () => {
  it('has cookies, of which only the names are stored', async () => {
    const event = createEvent({ event_id: nextId(), request: { url: 'https://shop.example/' } });
    await send([[{ type: 'event' }, event]], { Cookie: 'sid=canary; theme=dark' });
    expect(site.failures[0]?.request?.credentials).toEqual(['sid', 'theme']);
    expect(JSON.stringify(site.failures)).not.toContain('canary');
  });

  it('receives only the rate limits of the upstream', async () => {
    site.limits = '60:error:organization';
    const { headers, status } = await sendEvent({});
    expect([status, headers.get('x-sentry-rate-limits')]).toEqual([200, '60:error:organization']);
    expect([...headers.keys()].filter((name) => name.startsWith('x-sentry'))).toEqual(['x-sentry-rate-limits']);
  });
});
