import { randomUUID } from 'node:crypto';
import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { MiB } from '../../../../src/shared/units.ts';
import { askRaw, parseReply, sendRaw } from '../../../support/raw-http.ts';
import {
  createEvent,
  startTunnelSite,
  type TunnelSite,
  type TunnelSiteOptions,
  writeEnvelope,
} from '../../../support/tunnel-site.ts';
import { until } from '../../../support/until.ts';
import { openSocket } from '../../engine/connection/open-socket.ts';

let site: TunnelSite;

beforeAll(async () => {
  site = await startTunnelSite();
});
afterAll(() => site.close());

const nextId = () => randomUUID().replaceAll('-', '');

/** An envelope with the event of a page of the site. */
function toSound({ port }: TunnelSite, event: object = createEvent({ event_id: nextId() })): Buffer {
  return writeEnvelope({ dsn: `https://spillway@127.0.0.1:${port}/1` }, [{ type: 'event' }, event]);
}

type Headers = Readonly<Record<string, string>>;

function post(body: Uint8Array | string, headers: Headers = {}, { origin } = site): Promise<Response> {
  return fetch(`${origin}/_report`, { method: 'POST', body: body as BodyInit, headers });
}

async function start(options: TunnelSiteOptions): Promise<TunnelSite> {
  const other = await startTunnelSite(options);
  onTestFinished(() => other.close());
  return other;
}

/** Sends headers that `fetch` does not send. `SELF` is the origin of the site. */
async function askWith(headers: Headers, body = toSound(site).toString('latin1'), target = '/_report') {
  const lines = Object.entries({ Host: `127.0.0.1:${site.port}`, 'Content-Length': String(body.length), ...headers });
  const sent = lines.map(([name, value]) => `${name}: ${value.replace('SELF', site.origin)}`);
  const before = site.failures.length;
  const { status } = await askRaw(site.port, `POST ${target} HTTP/1.1`, sent, body);
  return { status, stored: site.failures.length - before };
}

describe('the URL', () => {
  it.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('accepts no %s', async (method) => {
    for (const path of ['/_report', '/_report/browser', '/_report?x=1']) {
      const reply = await fetch(site.origin + path, { method });
      expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'POST']);
    }
  });

  it.each(['/_report/', '/_report/x', '/_report/browser/x', '/_reportx', '/_REPORT', '/x/_report', '/', '/?/_report'])(
    'passes %s on to the next handler',
    async (path) => {
      for (const method of ['GET', 'POST']) {
        const reply = await fetch(site.origin + path, { method });
        expect([reply.status, await reply.text()]).toEqual([404, `passed ${method} ${path.replace(/\?.*/, '')}\n`]);
      }
    },
  );

  it.each([
    ...['/%5Freport', '/_%72eport', '/x/../_report', '/x/%2e%2e/_report', '//_report', '/./_report', '/_report/../a'],
    ...['/_report/%2e%2e/a', '/_report%2fbrowser', '/_report%00', '/_report;x=1', '\\_report'],
  ])('does not belong to the tunnel as %s', async (target) => {
    const { status, stored } = await askWith({}, undefined, target);
    expect([308, 400, 404]).toContain(status);
    expect(stored).toBe(0);
  });
});

describe('an envelope with an event', () => {
  it('is answered with its id and digest once it is stored, and again if it is sent again', async () => {
    const id = nextId();
    const body = toSound(site, createEvent({ event_id: id }));
    const before = site.failures.length;
    const reply = await post(body);
    const answer = await reply.json();
    const failure = site.failures.at(-1);
    expect([reply.status, reply.headers.get('cache-control'), answer]).toEqual([
      ...[200, 'no-store', { id, digest: failure?.digest }],
    ]);
    expect(failure).toMatchObject({ id, side: 'browser', origin: 'browser', title: 'TypeError: x is not a function' });
    const again = await Promise.all(Array.from({ length: 3 }, async () => (await post(body)).json()));
    expect(again).toEqual([answer, answer, answer]);
    expect(site.failures).toHaveLength(before + 1);
    expect(site.counts.get('spillway_tunnel_items_total{type=event,outcome=duplicate}')).toBe(3);
  });

  it('names the URL of the failure only to senders who can open it', async () => {
    const other = await start({ mayOpen: async (req) => req.headers.cookie === 'who=known' });
    const ask = async (headers: Headers) => (await post(toSound(other), headers, other)).json();
    expect(await ask({ Cookie: 'who=known' })).toMatchObject({ url: expect.stringMatching(/^\/failures\/.{17}$/) });
    for (const headers of [{ Cookie: 'who=forged' }, {}] as Headers[])
      expect(await ask(headers)).not.toHaveProperty('url');
  });

  it.each([
    ...['text/plain;charset=UTF-8', 'application/x-sentry-envelope', 'application/json', 'application/octet-stream'],
    ...['multipart/form-data; boundary=x', 'application/x-www-form-urlencoded', '%%%'],
  ])('is accepted as %s', async (type) => {
    expect((await post(toSound(site), { 'Content-Type': type })).status).toBe(200);
  });

  it.each([
    ['gzip', gzipSync],
    ['GZIP', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['identity', (bytes: Buffer) => bytes],
  ])('is accepted with the content coding %s', async (coding, encode) => {
    const before = site.failures.length;
    expect((await post(encode(toSound(site)), { 'Content-Encoding': coding })).status).toBe(200);
    expect(site.failures).toHaveLength(before + 1);
  });

  it('is accepted in chunks, and after 100 Continue', async () => {
    const body = toSound(site);
    const chunks = [body.subarray(0, 7), body.subarray(7, 90), body.subarray(90)];
    const written = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk.toString('latin1')}\r\n`).join('');
    const headers = [`Host: 127.0.0.1:${site.port}`, 'Transfer-Encoding: chunked'];
    expect((await askRaw(site.port, 'POST /_report HTTP/1.1', headers, `${written}0\r\n\r\n`)).status).toBe(200);
    const head = `POST /_report HTTP/1.1\r\nHost: 127.0.0.1:${site.port}\r\nConnection: close\r\nExpect: 100-continue\r\n`;
    const sent = toSound(site).toString('latin1');
    const text = await sendRaw(site.port, `${head}Content-Length: ${sent.length}\r\n\r\n${sent}`, { patience: 5000 });
    expect(text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/);
  });

  it('gets a new id if its own is invalid', async () => {
    for (const event_id of ['', 'x', '0'.repeat(32), 12, null, '../../etc/passwd', 'a'.repeat(33)]) {
      const answer = await (await post(toSound(site, createEvent({ event_id })))).json();
      expect(answer).toEqual({ id: expect.stringMatching(/^[0-9a-f]{32}$/), digest: expect.any(String) });
    }
  });

  it('has no digest if its build is not available here', async () => {
    const frames = [{ filename: `${site.origin}/assets/old-AAAAAAAA.js`, lineno: 1, colno: 2 }];
    const exception = { values: [{ type: 'Error', value: 'old', stacktrace: { frames } }] };
    const event = createEvent({ event_id: nextId(), exception, dist: 'build-1', release: 'forged' });
    expect(await (await post(toSound(site, event))).json()).toEqual({ id: event.event_id });
    expect(site.failures.at(-1)).toMatchObject({ unresolved: true, build: 'build-1', release: 'v1' });
  });

  it('gets 503 if it could not be stored, and is stored when it is sent again', async () => {
    const answers = [false, true];
    const broken = await start({ store: { journal: () => answers.shift() ?? false } });
    const body = toSound(broken);
    const reply = await post(body, {}, broken);
    expect([reply.status, reply.headers.get('retry-after'), await reply.json()]).toEqual([503, '30', {}]);
    expect((await post(body, {}, broken)).status).toBe(200);
    expect(answers).toEqual([]);
  });
});

it.each<[who: string, headers: Headers, status: number]>([
  ['no page', {}, 200],
  ['a page of this site', { 'Sec-Fetch-Site': 'same-origin', Origin: 'SELF' }, 200],
  ['a beacon of this site from an old browser', { Origin: 'SELF' }, 200],
  ['a page of this site without a referrer policy', { 'Sec-Fetch-Site': 'same-origin', Origin: 'null' }, 200],
  ['the browser itself', { 'Sec-Fetch-Site': 'none' }, 200],
  ['another site', { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' }, 403],
  ['another subdomain', { 'Sec-Fetch-Site': 'same-site', Origin: 'https://x.example' }, 403],
  ['another site in an old browser', { Origin: 'https://evil.example' }, 403],
  ['a sandboxed frame in an old browser', { Origin: 'null' }, 403],
  ['a page with contradictory headers', { 'Sec-Fetch-Site': 'cross-site', Origin: 'SELF' }, 403],
])('a report of %s is stored or refused: %o', async (_who, headers, status) => {
  expect(await askWith(headers)).toEqual({ status, stored: status === 200 ? 1 : 0 });
});

describe('the DSN without an upstream', () => {
  const PROXIED = { 'Sec-Fetch-Site': 'same-origin', Origin: 'https://shop.example' };

  it.each<[dsn: string, status: number, headers?: Headers]>([
    ['https://spillway@HOST/1', 200],
    ['http://spillway@HOST/1', 200],
    ['https://spillway@shop.example/1', 200, PROXIED],
    ['https://spillway@shop.example/1', 403],
    ['https://spillway@shop.example/1', 403, { ...PROXIED, Origin: 'https://evil.example' }],
    ...['HOST/2', 'HOST/path/1', 'HOST/1/', 'HOST/1?x', 'evil.example@HOST/1', 'HOST#/1', '/1'].map(
      (rest): [string, number] => [`https://spillway@${rest}`, 403],
    ),
    ['https://other@HOST/1', 403],
    ['https://spillway:x@HOST/1', 403],
    ['ftp://spillway@HOST/1', 403],
  ])('%s is answered with %d', async (written, expected, headers = {}) => {
    const dsn = written.replace('HOST', `127.0.0.1:${site.port}`);
    const body = writeEnvelope({ dsn }, [{ type: 'session' }, '{}']).toString('latin1');
    expect((await askWith(headers, body)).status).toBe(expected);
  });

  it.each([
    ['shop.example', 200],
    ['www.shop.example', 200],
    ['evil.example', 403],
  ])('with %s is answered with %d if there are configured origins', async (host, status) => {
    const shop = await start({ publicOrigins: ['https://shop.example', 'https://www.shop.example'] });
    const body = writeEnvelope({ dsn: `https://spillway@${host}/1` }).toString('latin1');
    const headers = ['Host: shop.example', `Content-Length: ${body.length}`];
    expect((await askRaw(shop.port, 'POST /_report HTTP/1.1', headers, body)).status).toBe(status);
  });
});

describe('a body', () => {
  it('can have 4 MB after decoding, and no more', async () => {
    const dsn = `https://spillway@127.0.0.1:${site.port}/1`;
    const envelope = writeEnvelope({ dsn }, [{ type: 'attachment', length: 3 * MiB }, Buffer.alloc(3 * MiB)]);
    expect((await post(gzipSync(envelope), { 'Content-Encoding': 'gzip' })).status).toBe(200);
    const bomb = gzipSync(Buffer.alloc(200 * MiB));
    expect(bomb.length).toBeLessThan(MiB);
    expect((await post(bomb, { 'Content-Encoding': 'gzip' })).status).toBe(413);
    expect((await post(deflateSync(Buffer.alloc(5 * MiB)), { 'Content-Encoding': 'deflate' })).status).toBe(413);
  });

  it.each<[coding: string, body: Buffer, status: number]>([
    ...['gzip, gzip', 'br', 'zstd', 'compress', 'constructor'].map((coding): [string, Buffer, number] => [
      coding,
      gzipSync('{}'),
      415,
    ]),
    ['gzip', gzipSync(gzipSync('{}')), 400],
    ['gzip', gzipSync(Buffer.alloc(999)).subarray(0, 20), 400],
    ['gzip', Buffer.from('hello'), 400],
    ['gzip', Buffer.concat([gzipSync('{}').subarray(0, -8), Buffer.alloc(8, 1)]), 400],
    ['deflate', deflateRawSync('{}'), 400],
  ])('that cannot be decoded is refused: %s, %#', async (coding, body, status) => {
    const reply = await post(body, { 'Content-Encoding': coding });
    expect(reply.status).toBe(status);
    if (status === 415) expect(reply.headers.get('accept-encoding')).toBe('gzip, deflate');
  });

  it.each([
    ['is too large', `Content-Length: ${3 * MiB}`, 'x'.repeat(3 * MiB), 413],
    [
      'is too large, in chunks',
      'Transfer-Encoding: chunked',
      `${`10000\r\n${'x'.repeat(0x10000)}\r\n`.repeat(40)}0\r\n\r\n`,
      413,
    ],
    ['has an unsupported coding', 'Content-Length: 50000\r\nContent-Encoding: br', 'x'.repeat(50_000), 415],
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
    await until(
      () => stalled.filter(({ text }) => text !== '').length >= 11,
      'the first senders to be rejected',
      60_000,
    );
    expect((await post(toSound(other), {}, other)).status).toBe(200);
  });
});

describe('limits', () => {
  it('answer 429 with the headers that SDKs obey, per address and in total', async () => {
    const perAddress = { burst: 2, perSecond: 0.01 };
    const limits = { perAddress, together: { burst: 5, perSecond: 0.01 } };
    const limited = await start({ trustProxy: ['loopback'], limits });
    const statuses: number[] = [];
    const addresses = ['192.0.2.1', '192.0.2.1', '192.0.2.1', '2001:db8::1', '2001:db8::2', '2001:db8::3', '192.0.2.7'];
    for (const address of addresses) {
      statuses.push((await post(toSound(limited), { 'X-Forwarded-For': address }, limited)).status);
    }
    expect(statuses).toEqual([200, 200, 429, 200, 200, 429, 200]);
    const { status, headers } = await post(toSound(limited), { 'X-Forwarded-For': '192.0.2.8' }, limited);
    expect([status, Number(headers.get('retry-after')) > 50]).toEqual([429, true]);
    expect(headers.get('x-sentry-rate-limits')).toMatch(/^\d+::key$/);
  });

  it('hold in a flood of forged events: accepted and refused ones add up', async () => {
    const flooded = await start({ trustProxy: ['loopback'], limits: { perAddress: { burst: 50, perSecond: 0.001 } } });
    const send = async (turn: number) => {
      const exception = { values: [{ type: 'Forged', value: `made up ${turn}` }] };
      const body = toSound(flooded, createEvent({ event_id: nextId(), exception, release: `forged-${turn}` }));
      return (await post(body, { 'X-Forwarded-For': `192.0.2.${turn % 5}` }, flooded)).status;
    };
    const statuses: number[] = [];
    for (let turn = 0; turn < 600; turn += 50) {
      statuses.push(...(await Promise.all(Array.from({ length: 50 }, (_, index) => send(turn + index)))));
    }
    const countOf = (status: number) => statuses.filter((one) => one === status).length;
    const refused = flooded.counts.get('spillway_tunnel_refused_total{status=429}');
    expect([countOf(200), countOf(429), flooded.failures.length, refused]).toEqual([250, 350, 250, 350]);
    expect(new Set(flooded.failures.map(({ digest }) => digest)).size).toBe(51);
    expect(flooded.failures.every(({ release }) => release === '')).toBe(true);
    expect(flooded.faults).toEqual([]);
  });
});
