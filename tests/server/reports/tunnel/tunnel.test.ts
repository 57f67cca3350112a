import { connect } from 'node:net';
import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MiB } from '../../../../src/shared/units.ts';
import { askRaw, parseReply, sendRaw } from '../../../support/raw-http.ts';
import { createEvent, startTunnelSite, type TunnelSite, writeEnvelope } from '../../../support/tunnel-site.ts';
import { until } from '../../../support/until.ts';

let site: TunnelSite;
let serial = 0;

beforeAll(async () => {
  site = await startTunnelSite();
});
afterAll(() => site.close());

function nextId(): string {
  serial += 1;
  return serial.toString(16).padStart(32, 'a');
}

function own(): Record<string, unknown> {
  return { dsn: `https://spillway@127.0.0.1:${site.port}/1` };
}

function sound(): Buffer {
  return writeEnvelope(own(), [{ type: 'event' }, createEvent({ event_id: nextId() })]);
}

function post(body: Uint8Array | string, headers: Record<string, string> = {}, path = '/_report'): Promise<Response> {
  return fetch(site.origin + path, { method: 'POST', body: body as BodyInit, headers });
}

it('says where the failure is shown if the sender can open it', async () => {
  const other = await startTunnelSite({
    toUrl: (address) => `/failures/${address}`,
    mayOpen: async (req) => req.headers.cookie === 'who=known',
  });
  const send = async (headers: Record<string, string>) => {
    const event = createEvent({ event_id: nextId() });
    const body = writeEnvelope({ dsn: `https://spillway@127.0.0.1:${other.port}/1` }, [{ type: 'event' }, event]);
    return (await fetch(`${other.origin}/_report`, { method: 'POST', body: body as BodyInit, headers })).json();
  };
  expect(await send({ Cookie: 'who=known' })).toMatchObject({ url: expect.stringMatching(/^\/failures\/.{17}$/) });
  expect(await send({ Cookie: 'who=forged' })).not.toHaveProperty('url');
  expect(await send({})).not.toHaveProperty('url');
  await other.close();
});

it.each([
  ['one address', () => '203.0.113.1'],
  ['75 addresses', (index: number) => `203.0.113.${index}`],
])('accepts a valid report while 75 requests from %s never send their last byte', async (_name, toAddress) => {
  const other = await startTunnelSite({ trustProxy: ['loopback'] });
  let refused = 0;
  const sockets = Array.from({ length: 75 }, (_, index) => {
    const socket = connect(other.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.on('data', () => refused++);
    socket.write(
      `POST /_report HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: ${toAddress(index)}\r\nContent-Length: ${MiB}\r\n\r\n`,
    );
    socket.write(Buffer.alloc(MiB - 1, 'a'));
    return socket;
  });
  await until(() => refused >= 11, 'the first senders to be rejected');
  const event = createEvent({ event_id: nextId() });
  const body = writeEnvelope({ dsn: `https://spillway@127.0.0.1:${other.port}/1` }, [{ type: 'event' }, event]);
  const reply = await fetch(`${other.origin}/_report`, { method: 'POST', body: body as BodyInit });
  expect(reply.status).toBe(200);
  for (const socket of sockets) socket.destroy();
  other.close();
});

it('passes on the earlier ids of the visitor with each failure', async () => {
  const seen: unknown[] = [];
  const other = await startTunnelSite({
    journal: ({ visitor }, sameVisitor) => seen.push([visitor, sameVisitor]) > 0,
  });
  const event = writeEnvelope({ dsn: `https://spillway@127.0.0.1:${other.port}/1` }, [
    { type: 'event' },
    createEvent(),
  ]);
  const deprecation = { type: 'deprecation', url: `${other.origin}/`, body: { id: 'a', message: 'b' } };
  const bodies: Record<string, Uint8Array | string> = {
    '/_report': event,
    '/_report/browser': JSON.stringify([deprecation]),
  };
  for (const [path, body] of Object.entries(bodies)) {
    const headers = { 'Content-Type': 'application/json' };
    const reply = await fetch(other.origin + path, { method: 'POST', headers, body: body as BodyInit });
    expect(reply.ok).toBe(true);
  }
  expect(seen).toEqual(Array.from({ length: 2 }, () => ['hash of 127.0.0.1', ['hash of yesterday']]));
  await other.close();
});

describe('the URL', () => {
  it.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
    'answers %s with 405 and the allowed method',
    async (method) => {
      for (const path of ['/_report', '/_report/browser', '/_report?x=1']) {
        const reply = await fetch(site.origin + path, { method });
        expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'POST']);
      }
    },
  );

  it.each([
    '/_report/',
    '/_report/x',
    '/_report/admin',
    '/_report/browser/x',
    '/_reportx',
    '/_REPORT',
    '/x/_report',
    '/',
    '/?/_report',
  ])('passes %s on to the next handler', async (path) => {
    for (const method of ['GET', 'POST']) {
      const reply = await fetch(site.origin + path, { method });
      expect([reply.status, await reply.text()]).toEqual([404, `passed ${method} ${path.replace(/\?.*/, '')}\n`]);
    }
  });

  it.each([
    '/%5Freport',
    '/%5freport',
    '/_%72eport',
    '/x/../_report',
    '/x/%2e%2e/_report',
    '//_report',
    '/./_report',
    '/_report/../admin',
    '/_report/%2e%2e/admin',
    '/_report%2fbrowser',
    '/_report%00',
    '/_report;x=1',
    '\\_report',
  ])('does not belong to the tunnel as %s', async (target) => {
    const before = site.failures.length;
    const body = sound().toString('latin1');
    const reply = await askRaw(
      site.port,
      `POST ${target} HTTP/1.1`,
      [`Host: 127.0.0.1:${site.port}`, `Content-Length: ${body.length}`],
      body,
    );
    expect([308, 400, 404]).toContain(reply.status);
    expect(site.failures).toHaveLength(before);
  });
});

describe('an envelope with an event', () => {
  it('is answered with its id and digest once it is stored', async () => {
    const id = nextId();
    const reply = await post(writeEnvelope(own(), [{ type: 'event' }, createEvent({ event_id: id })]));
    const failure = site.failures.at(-1);
    expect(reply.status).toBe(200);
    expect(reply.headers.get('cache-control')).toBe('no-store');
    expect(await reply.json()).toEqual({ id, digest: failure?.digest });
    expect(failure).toMatchObject({ id, side: 'browser', origin: 'browser', title: 'TypeError: x is not a function' });
  });

  it.each([
    'text/plain;charset=UTF-8',
    'application/x-sentry-envelope',
    'application/json',
    'application/octet-stream',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    '%%%',
  ])('is accepted as %s', async (type) => {
    expect((await post(sound(), { 'Content-Type': type })).status).toBe(200);
  });

  it.each([
    ['gzip', gzipSync],
    ['GZIP', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['identity', (bytes: Buffer) => bytes],
  ])('is accepted with the content coding %s', async (coding, encode) => {
    const before = site.failures.length;
    expect((await post(encode(sound()), { 'Content-Encoding': coding })).status).toBe(200);
    expect(site.failures).toHaveLength(before + 1);
  });

  it('is accepted in chunks without a length', async () => {
    const body = sound();
    const chunks = [body.subarray(0, 7), body.subarray(7, 90), body.subarray(90)];
    const written = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk.toString('latin1')}\r\n`).join('');
    const reply = await askRaw(
      site.port,
      'POST /_report HTTP/1.1',
      [`Host: 127.0.0.1:${site.port}`, 'Transfer-Encoding: chunked'],
      `${written}0\r\n\r\n`,
    );
    expect(reply.status).toBe(200);
  });

  it('gets 100 Continue if the sender waits for it', async () => {
    const body = sound().toString('latin1');
    const head = `POST /_report HTTP/1.1\r\nHost: 127.0.0.1:${site.port}\r\nConnection: close\r\n`;
    const text = await sendRaw(
      site.port,
      `${head}Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      { patience: 5000 },
    );
    expect(text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/);
  });

  it('is stored once, and answered again', async () => {
    const body = sound();
    const first = await (await post(body)).json();
    const count = site.failures.length;
    expect(await (await post(body)).json()).toEqual(first);
    expect(site.failures).toHaveLength(count);
    expect(site.counts.get('spillway_tunnel_items_total{type=event,outcome=duplicate}')).toBe(1);
  });

  it('gets a new id if its own is invalid', async () => {
    for (const id of ['', 'x', '0'.repeat(32), 12, null, '../../etc/passwd', 'a'.repeat(33)]) {
      const reply = await post(writeEnvelope(own(), [{ type: 'event' }, createEvent({ event_id: id })]));
      expect(await reply.json()).toEqual({ id: expect.stringMatching(/^[0-9a-f]{32}$/), digest: expect.any(String) });
    }
  });

  it('has no digest if its build is not available here', async () => {
    const frames = [{ filename: `${site.origin}/assets/old-AAAAAAAA.js`, lineno: 1, colno: 2 }];
    const exception = { values: [{ type: 'Error', value: 'old', stacktrace: { frames } }] };
    const event = createEvent({ event_id: nextId(), exception, dist: 'build-1', release: 'forged' });
    const reply = await post(writeEnvelope(own(), [{ type: 'event' }, event]));
    expect(await reply.json()).toEqual({ id: event.event_id });
    expect(site.failures.at(-1)).toMatchObject({ unresolved: true, build: 'build-1', release: 'v1' });
  });

  it('gets 503 if it could not be stored, and is stored when it is sent again', async () => {
    const answers = [false, true];
    const broken = await startTunnelSite({ journal: () => answers.shift() ?? false });
    const body = writeEnvelope({ dsn: `http://spillway@127.0.0.1:${broken.port}/1` }, [
      { type: 'event' },
      createEvent(),
    ]);
    const send = () => fetch(`${broken.origin}/_report`, { method: 'POST', body: new Uint8Array(body) });
    const reply = await send();
    expect([reply.status, reply.headers.get('retry-after'), await reply.json()]).toEqual([503, '30', {}]);
    expect((await send()).status).toBe(200);
    expect(answers).toEqual([]);
    broken.close();
  });
});

describe('the origin check', () => {
  const cases = [
    ['no headers', {}, 200],
    ['a page of this site', { 'Sec-Fetch-Site': 'same-origin', Origin: 'SELF' }, 200],
    ['a beacon of this site from an old browser', { Origin: 'SELF' }, 200],
    ['a page of this site without a referrer policy', { 'Sec-Fetch-Site': 'same-origin', Origin: 'null' }, 200],
    ['the browser itself', { 'Sec-Fetch-Site': 'none' }, 200],
    ['another site', { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' }, 403],
    ['another subdomain', { 'Sec-Fetch-Site': 'same-site', Origin: 'https://x.example' }, 403],
    ['another site in an old browser', { Origin: 'https://evil.example' }, 403],
    ['a sandboxed frame in an old browser', { Origin: 'null' }, 403],
    ['contradictory headers', { 'Sec-Fetch-Site': 'cross-site', Origin: 'SELF' }, 403],
  ] as const;

  it.each(cases)('accepts or rejects: %s', async (_name, given, status) => {
    const headers = Object.entries(given).map(([name, value]) => `${name}: ${value === 'SELF' ? site.origin : value}`);
    const body = sound().toString('latin1');
    const all = [`Host: 127.0.0.1:${site.port}`, `Content-Length: ${body.length}`, ...headers];
    const before = site.failures.length;
    expect((await askRaw(site.port, 'POST /_report HTTP/1.1', all, body)).status).toBe(status);
    expect(site.failures).toHaveLength(before + (status === 200 ? 1 : 0));
  });
});

describe('the DSN without an upstream', () => {
  const proxied = { 'Sec-Fetch-Site': 'same-origin', Origin: 'https://shop.example' };
  const foreign = { 'Sec-Fetch-Site': 'same-origin', Origin: 'https://evil.example' };
  const cases: [dsn: string, headers: Record<string, string>, status: number][] = [
    ['https://spillway@HOST/1', {}, 200],
    ['http://spillway@HOST/1', {}, 200],
    ['https://spillway@shop.example/1', proxied, 200],
    ['https://spillway@shop.example/1', {}, 403],
    ['https://spillway@shop.example/1', foreign, 403],
    ['https://spillway@HOST/2', {}, 403],
    ['https://other@HOST/1', {}, 403],
    ['https://spillway:x@HOST/1', {}, 403],
    ['https://spillway@HOST/path/1', {}, 403],
    ['https://spillway@HOST/1/', {}, 403],
    ['https://spillway@HOST/1?x', {}, 403],
    ['https://spillway@evil.example@HOST/1', {}, 403],
    ['https://spillway@HOST#/1', {}, 403],
    ['ftp://spillway@HOST/1', {}, 403],
    ['https://spillway@/1', {}, 403],
  ];

  it.each(cases)('%s, %o', async (written, headers, status) => {
    const dsn = written.replace('HOST', `127.0.0.1:${site.port}`);
    const body = writeEnvelope({ dsn }, [{ type: 'session' }, '{}']).toString('latin1');
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    const all = [`Host: 127.0.0.1:${site.port}`, `Content-Length: ${body.length}`, ...lines];
    expect((await askRaw(site.port, 'POST /_report HTTP/1.1', all, body)).status).toBe(status);
  });

  it('can contain each configured origin', async () => {
    const shop = await startTunnelSite({ publicOrigins: ['https://shop.example', 'https://www.shop.example'] });
    const ask = (dsn: string) => {
      const body = writeEnvelope({ dsn }).toString('latin1');
      return askRaw(
        shop.port,
        'POST /_report HTTP/1.1',
        ['Host: shop.example', `Content-Length: ${body.length}`],
        body,
      );
    };
    expect((await ask('https://spillway@shop.example/1')).status).toBe(200);
    expect((await ask('https://spillway@www.shop.example/1')).status).toBe(200);
    expect((await ask('https://spillway@evil.example/1')).status).toBe(403);
    shop.close();
  });
});

describe('a keep-alive connection', () => {
  it.each([
    ['a body of 3 MB that is too large', `Content-Length: ${3 << 20}`, 3 << 20, 413],
    ['an unsupported content coding', 'Content-Encoding: br', 50_000, 415],
    ['another site', 'Sec-Fetch-Site: cross-site', 50_000, 403],
    ['an invalid envelope', 'X-Nothing: 1', 9000, 400],
  ])('continues with the next request after %s', async (_name, header, size, status) => {
    const length = header.startsWith('Content-Length') ? [] : [`Content-Length: ${size}`];
    const head = ['POST /_report HTTP/1.1', `Host: 127.0.0.1:${site.port}`, header, ...length].join('\r\n');
    const next = `GET /after HTTP/1.1\r\nHost: 127.0.0.1:${site.port}\r\nConnection: close\r\n\r\n`;
    const text = await sendRaw(site.port, `${head}\r\n\r\n${'x'.repeat(size)}${next}`, { patience: 5000 });
    expect(parseReply(text).status).toBe(status);
    expect(text).toContain('passed GET /after');
    expect(text.match(/^HTTP\/1\.1 /gm)).toHaveLength(2);
  });

  it('continues with the next request after a chunked body that is too large', async () => {
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    const head = `POST /_report HTTP/1.1\r\nHost: 127.0.0.1:${site.port}\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const next = `GET /after HTTP/1.1\r\nHost: 127.0.0.1:${site.port}\r\nConnection: close\r\n\r\n`;
    const text = await sendRaw(site.port, `${head}${chunk.repeat(40)}0\r\n\r\n${next}`, { patience: 5000 });
    expect(parseReply(text).status).toBe(413);
    expect(text).toContain('passed GET /after');
  });
});

describe('a body', () => {
  it('is rejected if it is too large after decoding', async () => {
    const bomb = gzipSync(Buffer.alloc(200 << 20));
    expect(bomb.length).toBeLessThan(1 << 20);
    expect((await post(bomb, { 'Content-Encoding': 'gzip' })).status).toBe(413);
    expect((await post(deflateSync(Buffer.alloc(5 << 20)), { 'Content-Encoding': 'deflate' })).status).toBe(413);
  });

  it('is accepted up to 4 MB after decoding', async () => {
    const envelope = writeEnvelope(own(), [{ type: 'attachment', length: 3 << 20 }, Buffer.alloc(3 << 20)]);
    expect((await post(gzipSync(envelope), { 'Content-Encoding': 'gzip' })).status).toBe(200);
  });

  it.each([
    ['a list of codings', 'gzip, gzip', gzipSync(gzipSync('{}')), 415],
    ['Brotli', 'br', Buffer.from('x'), 415],
    ['zstd', 'zstd', Buffer.from('x'), 415],
    ['compress', 'compress', Buffer.from('x'), 415],
    ['a property name of Object.prototype', 'constructor', Buffer.from('x'), 415],
    ['gzip inside gzip', 'gzip', gzipSync(gzipSync('{}')), 400],
    ['half of a gzip body', 'gzip', gzipSync(Buffer.alloc(999)).subarray(0, 20), 400],
    ['a body that is not gzip', 'gzip', Buffer.from('hello'), 400],
    ['deflate without the zlib header', 'deflate', deflateRawSync('{}'), 400],
    ['gzip with a wrong checksum', 'gzip', Buffer.concat([gzipSync('{}').subarray(0, -8), Buffer.alloc(8, 1)]), 400],
  ])('is rejected: %s', async (_name, coding, body, status) => {
    const reply = await post(body, { 'Content-Encoding': coding });
    expect(reply.status).toBe(status);
    if (status === 415) expect(reply.headers.get('accept-encoding')).toBe('gzip, deflate');
  });

  it('reports nothing if the sender has disconnected', async () => {
    const before = site.counts.get('spillway_tunnel_refused_total{status=gone}') ?? 0;
    await sendRaw(
      site.port,
      `POST /_report HTTP/1.1\r\nHost: 127.0.0.1:${site.port}\r\nContent-Length: 900\r\n\r\n{"a"`,
      { patience: 100 },
    );
    await until(
      () => (site.counts.get('spillway_tunnel_refused_total{status=gone}') ?? 0) > before,
      'the count of disconnected senders',
    );
    expect(site.faults).toEqual([]);
  });
});

describe('limits', () => {
  it('answer 429 with the headers that SDKs obey, per address and in total', async () => {
    const small = { burst: 2, perSecond: 0.01 };
    const options = {
      trustProxy: ['loopback'],
      limits: { perAddress: small, together: { burst: 5, perSecond: 0.01 } },
    };
    const limited = await startTunnelSite(options);
    const ask = async (address: string) => {
      const body = new Uint8Array(writeEnvelope({ dsn: `http://spillway@127.0.0.1:${limited.port}/1` }));
      return fetch(`${limited.origin}/_report`, { method: 'POST', body, headers: { 'X-Forwarded-For': address } });
    };
    const statuses: number[] = [];
    for (const address of ['192.0.2.1', '192.0.2.1', '192.0.2.1', '2001:db8::1', '2001:db8::2', '2001:db8::3']) {
      statuses.push((await ask(address)).status);
    }
    expect(statuses).toEqual([200, 200, 429, 200, 200, 429]);
    expect((await ask('192.0.2.7')).status).toBe(200);
    const reply = await ask('192.0.2.8');
    expect(reply.status).toBe(429);
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(50);
    expect(reply.headers.get('x-sentry-rate-limits')).toMatch(/^\d+::key$/);
    limited.close();
  });

  it('hold in a flood of forged events: accepted and rejected ones add up', async () => {
    const perAddress = { burst: 50, perSecond: 0.001 };
    const flooded = await startTunnelSite({ trustProxy: ['loopback'], limits: { perAddress } });
    const statuses = new Map<number, number>();
    const send = async (turn: number) => {
      const exception = { values: [{ type: 'Forged', value: `made up ${turn}` }] };
      const event = createEvent({ event_id: nextId(), exception, release: `forged-${turn}`, fingerprint: [`${turn}`] });
      const reply = await fetch(`${flooded.origin}/_report`, {
        method: 'POST',
        body: new Uint8Array(
          writeEnvelope({ dsn: `http://spillway@127.0.0.1:${flooded.port}/1` }, [{ type: 'event' }, event]),
        ),
        headers: { 'X-Forwarded-For': `192.0.2.${turn % 5}` },
      });
      statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
    };
    for (let turn = 0; turn < 1500; turn += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, index) => send(turn + index)));
    }
    const refused = flooded.counts.get('spillway_tunnel_refused_total{status=429}') ?? 0;
    expect(Object.fromEntries(statuses)).toEqual({ 200: 250, 429: 1250 });
    expect([flooded.failures.length, refused]).toEqual([250, 1250]);
    expect(new Set(flooded.failures.map(({ digest }) => digest)).size).toBe(51);
    expect(flooded.failures.every(({ side, release }) => side === 'browser' && release === '')).toBe(true);
    expect(flooded.faults).toEqual([]);
    flooded.close();
  });
});
