import { randomUUID } from 'node:crypto';
import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { KiB, MiB } from '../../../src/shared/units.ts';
import { askRaw, openSocket, parseReply, sendRaw } from '../../support/raw-http.ts';
import { createEvent, startTunnelSite, type TunnelSite, writeEnvelope } from '../../support/tunnel-site.ts';
import { until } from '../../support/until.ts';

const site = await startTunnelSite();
afterAll(site.close);

const nextId = () => randomUUID().replaceAll('-', '');

/** An envelope with the event of a page of the site. */
const toSound = ({ port }: TunnelSite, event: object = createEvent({ event_id: nextId() })) =>
  writeEnvelope({ dsn: `https://spillway@127.0.0.1:${port}/1` }, [{ type: 'event' }, event]);

type Headers = Readonly<Record<string, string>>;

const post = (body: Uint8Array | string, headers: Headers = {}, { origin } = site) =>
  fetch(`${origin}/_report`, { method: 'POST', body: body as BodyInit, headers });

async function start(options: Parameters<typeof startTunnelSite>[0]) {
  const other = await startTunnelSite(options);
  onTestFinished(() => other.close());
  return other;
}

/** Sends headers that `fetch` does not send. `SELF` is the origin of the site. */
async function askWith(headers: Headers, body = toSound(site).toString('latin1'), target = '/_report', to = site) {
  const lines = Object.entries({ Host: `127.0.0.1:${to.port}`, 'Content-Length': String(body.length), ...headers });
  const sent = lines.map(([name, value]) => `${name}: ${value.replace('SELF', to.origin)}`);
  const before = to.failures.length;
  const { status } = await askRaw(to.port, `POST ${target} HTTP/1.1`, sent, body);
  return { status, stored: to.failures.length - before };
}

it.each([
  ...['/_report/', '/_report/browser/x', '/_REPORT', '/?/_report', '/%5Freport', '/x/../_report', '//_report'],
  ...['/_report/%2e%2e/a', '/_report%2fbrowser', '/_report%00', '/_report;x=1', '\\_report'],
])('%s is not the URL of the tunnel', async (target) => {
  const { status, stored } = await askWith({}, undefined, target);
  expect([308, 400, 404]).toContain(status);
  expect(stored).toBe(0);
});

describe('an envelope with an event', () => {
  it('is answered with its id and digest once it is stored', async () => {
    const id = nextId();
    const body = toSound(site, createEvent({ event_id: id }));
    const before = site.failures.length;
    const reply = await post(body);
    const answer = await reply.json();
    const failure = site.failures.at(-1);
    expect([reply.status, reply.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(answer).toEqual({ id, digest: failure?.digest });
    expect(failure).toMatchObject({ id, side: 'browser', origin: 'browser', title: 'TypeError: x is not a function' });
    expect(site.failures).toHaveLength(before + 1);
  });

  it('names the URL of the failure only to senders who can open it', async () => {
    const other = await start({ canOpen: async (req) => req.headers.cookie === 'who=known' });
    const ask = async (Cookie: string) => (await post(toSound(other), { Cookie }, other)).json();
    expect(await ask('who=known')).toMatchObject({ url: expect.stringMatching(/^\/failures\/.{17}$/) });
    for (const cookie of ['who=forged', '']) expect(await ask(cookie)).not.toHaveProperty('url');
  });

  it.each<[headers: Headers, encode?: (bytes: Buffer) => Buffer]>([
    [{ 'Content-Type': 'multipart/form-data; boundary=x' }],
    [{ 'Content-Type': '%%%', 'Content-Encoding': 'identity' }],
    [{ 'Content-Encoding': 'GZIP' }, gzipSync],
    [{ 'Content-Encoding': 'deflate' }, deflateSync],
  ])('is accepted with %o', async (headers, encode = (bytes) => bytes) => {
    const before = site.failures.length;
    expect((await post(encode(toSound(site)), headers)).status).toBe(200);
    expect(site.failures).toHaveLength(before + 1);
  });

  it.each(['', 'x', '0'.repeat(32), 12, null, '../../etc/passwd', 'a'.repeat(33)])(
    'gets a new id instead of %j',
    async (event_id) => {
      const answer = await (await post(toSound(site, createEvent({ event_id })))).json();
      expect(answer).toEqual({ id: expect.stringMatching(/^[0-9a-f]{32}$/), digest: expect.any(String) });
    },
  );

  it('has no digest if its build is not available here', async () => {
    const frames = [{ filename: `${site.origin}/assets/old-AAAAAAAA.js`, lineno: 1, colno: 2 }];
    const exception = { values: [{ type: 'Error', value: 'old', stacktrace: { frames } }] };
    const event = createEvent({ event_id: nextId(), exception, dist: 'build-1', release: 'forged' });
    expect(await (await post(toSound(site, event))).json()).toEqual({ id: event.event_id });
    expect(site.failures.at(-1)).toMatchObject({ unresolved: true, build: 'build-1', release: 'v1' });
  });

  it.each<[what: string, tags: object, fail: () => boolean, status: number]>([
    ['event could not be stored', {}, () => false, 503],
    ['echo could not be stored', { 'spillway.echo': '7K3QM2XA-9F4W0R6B' }, () => false, 503],
    ['store throws', {}, () => expect.unreachable(), 500],
  ])('is stored when it is sent again if the %s', async (_what, tags, fail, status) => {
    const record = vi.fn(() => true).mockImplementationOnce(fail);
    const broken = await start({ tracker: { record } });
    const body = toSound(broken, createEvent({ event_id: nextId(), tags }));
    const { status: first, headers } = await post(body, {}, broken);
    expect([first, headers.get('retry-after')]).toEqual([status, status === 503 ? '30' : null]);
    expect((await post(body, {}, broken)).status).toBe(200);
    expect(record).toHaveBeenCalledTimes(2);
  });
});

it.each([
  ['no page', {}, 200],
  ['a page of this site', { 'Sec-Fetch-Site': 'same-origin', Origin: 'SELF' }, 200],
  ['a beacon of this site from an old browser', { Origin: 'SELF' }, 200],
  ['another site', { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' }, 403],
  ['another subdomain', { 'Sec-Fetch-Site': 'same-site', Origin: 'https://x.example' }, 403],
  ['a sandboxed frame in an old browser', { Origin: 'null' }, 403],
  ['a page with contradictory headers', { 'Sec-Fetch-Site': 'cross-site', Origin: 'SELF' }, 403],
])('a report of %s is stored or refused: %o', async (_who, headers, status) => {
  expect(await askWith(headers)).toEqual({ status, stored: status === 200 ? 1 : 0 });
});

const PROXIED = { 'Sec-Fetch-Site': 'same-origin', Origin: 'https://shop.example' };

it.each<[dsn: string, status: number, headers?: Headers]>([
  ['https://spillway@HOST/1', 200],
  ['https://spillway@shop.example/1', 200, PROXIED],
  ['https://spillway@shop.example/1', 403],
  ['https://spillway@shop.example/1', 403, { ...PROXIED, Origin: 'https://evil.example' }],
  ...['HOST/2', 'HOST/path/1', 'HOST/1/', 'HOST/1?x', 'evil.example@HOST/1', 'HOST#/1', '/1'].map(
    (rest): [string, number] => [`https://spillway@${rest}`, 403],
  ),
  ['https://other@HOST/1', 403],
  ['https://spillway:x@HOST/1', 403],
  ['ftp://spillway@HOST/1', 403],
])('without an upstream, the DSN %s is answered with %d', async (written, expected, headers = {}) => {
  const dsn = written.replace('HOST', `127.0.0.1:${site.port}`);
  expect((await askWith(headers, writeEnvelope({ dsn }).toString('latin1'))).status).toBe(expected);
});

describe('a body', () => {
  it('can have 4 MB after decoding', async () => {
    const dsn = `https://spillway@127.0.0.1:${site.port}/1`;
    const envelope = writeEnvelope({ dsn }, [{ type: 'attachment', length: 3 * MiB }, Buffer.alloc(3 * MiB)]);
    expect((await post(gzipSync(envelope), { 'Content-Encoding': 'gzip' })).status).toBe(200);
  });

  it.each([
    ['a bomb', 'gzip', gzipSync(Buffer.alloc(50 * MiB)), 413],
    ['too much', 'deflate', deflateSync(Buffer.alloc(5 * MiB)), 413],
    ['a made-up coding', 'constructor', gzipSync('{}'), 415],
    ['gzip in gzip', 'gzip', gzipSync(gzipSync('{}')), 400],
    ['cut-off gzip', 'gzip', gzipSync(Buffer.alloc(999)).subarray(0, 20), 400],
    ['a wrong checksum', 'gzip', Buffer.concat([gzipSync('{}').subarray(0, -8), Buffer.alloc(8, 1)]), 400],
    ['deflate without its header', 'deflate', deflateRawSync('{}'), 400],
  ])('that cannot be decoded is refused: %s', async (_what, coding, body, status) => {
    const reply = await post(body, { 'Content-Encoding': coding });
    expect(reply.status).toBe(status);
    if (status === 415) expect(reply.headers.get('accept-encoding')).toBe('gzip, deflate');
  });

  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
  it.each([
    ['is too large', `Content-Length: ${3 * MiB}`, 'x'.repeat(3 * MiB), 413],
    ['is too large, in chunks', 'Transfer-Encoding: chunked', `${chunk.repeat(40)}0\r\n\r\n`, 413],
    ['is of another site', 'Content-Length: 50000\r\nSec-Fetch-Site: cross-site', 'x'.repeat(50_000), 403],
    ['is no envelope', 'Content-Length: 9000', 'x'.repeat(9000), 400],
  ])('that %s leaves the connection usable', async (_what, headers, body, status) => {
    const host = `Host: 127.0.0.1:${site.port}`;
    const next = `GET /after HTTP/1.1\r\n${host}\r\nConnection: close\r\n\r\n`;
    const sent = `POST /_report HTTP/1.1\r\n${host}\r\n${headers}\r\n\r\n${body}${next}`;
    const text = await sendRaw(site.port, sent, { patience: 5000 });
    expect([parseReply(text).status, text.match(/^HTTP\/1\.1 /gm)?.length]).toEqual([status, 2]);
    expect(text).toContain('passed GET /after');
  });

  it('of a sender who has gone is counted, not reported', async () => {
    const head = `POST /_report HTTP/1.1\r\nHost: 127.0.0.1:${site.port}\r\nContent-Length: 900\r\n\r\n`;
    await sendRaw(site.port, `${head}{"a"`, { patience: 100 });
    await until(() => site.counts.has('spillway_tunnel_refused_total{status=gone}'), 'the count');
    expect(site.faults).toEqual([]);
  });

  it('is accepted while 75 requests from as many addresses never send their last byte', async () => {
    const other = await start({ trustProxy: ['loopback'] });
    const stalled = Array.from({ length: 75 }, (_, index) => {
      const from = `X-Forwarded-For: 203.0.113.${index}`;
      const head = `POST /_report HTTP/1.1\r\nHost: localhost\r\n${from}\r\nContent-Length: ${MiB}\r\n\r\n`;
      return openSocket(other.port, head + 'a'.repeat(MiB - 1));
    });
    const refused = () => stalled.filter(({ text }) => text !== '').length;
    await until(() => refused() >= 11, 'the first senders to be rejected', 60_000);
    expect((await post(toSound(other), {}, other)).status).toBe(200);
  });
});

it('limits answer 429 with the headers that SDKs obey, per address and in total, and a large report counts as several', async () => {
  const limits = { perAddress: { burst: 4, perSecond: 0.01 }, together: { burst: 9, perSecond: 0.01 } };
  const limited = await start({ trustProxy: ['loopback'], limits });
  const ask = (from: string, size = 0) =>
    post(
      toSound(limited, createEvent({ event_id: nextId(), extra: { a: 'x'.repeat(size) } })),
      { 'X-Forwarded-For': from },
      limited,
    );
  const statuses: number[] = [];
  const large = ['192.0.2.1', '2001:db8::1'];
  for (const address of [...large, '192.0.2.1', '192.0.2.1', '2001:db8::2', '2001:db8::3', '192.0.2.7']) {
    statuses.push((await ask(address, statuses.length < 2 ? 40 * KiB : 0)).status);
  }
  expect(statuses).toEqual([200, 200, 200, 429, 200, 429, 200]);
  const { status, headers } = await ask('192.0.2.8');
  expect([status, Number(headers.get('retry-after')) > 50]).toEqual([429, true]);
  expect(headers.get('x-sentry-rate-limits')).toMatch(/^\d+::key$/);
});

it.each([
  ['', (to: TunnelSite, extra: object) => toSound(to, createEvent({ event_id: nextId(), extra }))],
  ['/browser', (_to: TunnelSite, body: object) => JSON.stringify([{ type: 'other', body }])],
])('a sender of a large report to /_report%s waits for all that it counts', async (way, write) => {
  const together = { burst: 1000, perSecond: 0.01 };
  const limited = await start({ limits: { perAddress: { burst: 4, perSecond: 0.01 }, together } });
  const headers = { 'Content-Type': 'application/reports+json' };
  const ask = () => {
    const body = write(limited, { a: 'x'.repeat(200 * KiB) }) as BodyInit;
    return fetch(`${limited.origin}/_report${way}`, { method: 'POST', headers, body });
  };
  expect((await ask()).ok).toBe(true);
  expect(Number((await ask()).headers.get('retry-after'))).toBeGreaterThan(450);
});

it('limits hold in a flood of forged events, of which 50 open an incident and the others count on one more', async () => {
  const limits = { perAddress: { burst: 20, perSecond: 0.001 }, together: { burst: 160, perSecond: 200 } };
  const flooded = await start({ trustProxy: ['loopback'], limits });
  const send = async (_: unknown, turn: number) => {
    const exception = { values: [{ type: 'Forged', value: `made up ${turn}` }] };
    const body = toSound(flooded, createEvent({ event_id: nextId(), exception, release: `forged-${turn}` }));
    return (await post(body, { 'X-Forwarded-For': `192.0.2.${turn % 5}` }, flooded)).status;
  };
  const statuses = await Promise.all(Array.from({ length: 160 }, send));
  const countOf = (status: number) => statuses.filter((one) => one === status).length;
  const refused = flooded.counts.get('spillway_tunnel_refused_total{status=429}');
  expect([countOf(200), countOf(429), flooded.failures.length, refused]).toEqual([100, 60, 100, 60]);
  expect(new Set(flooded.failures.map(({ digest }) => digest)).size).toBe(51);
  expect(flooded.counts.get('spillway_reports_past_cap_total{}')).toBe(50);
  expect(flooded.failures.at(-1)?.title).toMatch('More kinds of browser errors');
  expect(flooded.failures.at(-1)?.extra).toEqual({ title: expect.stringContaining('Forged: made up') });
  expect(flooded.failures.every(({ release }) => release === '')).toBe(true);
  expect(flooded.faults).toEqual([]);
});
