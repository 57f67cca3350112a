import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApp, spyOnLog, startTestServer, type TestServer } from '../../../support/app.ts';
import { askRaw } from '../../../support/raw-http.ts';

describe('without PUBLIC_ORIGINS', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  it.each([
    'a/b?c#d@e',
    '"><script>',
    'user@host',
    'localhost:99999',
    'localhost:',
    'a, b',
    'a..b',
    '.a',
    '-a.example',
    '0x7f.1',
    '[::1',
    'a b',
    'host:80:80',
    '%61',
    'x'.repeat(300),
    '',
  ])('answers 400 to the host %j', async (host) => {
    const reply = await askRaw(server.port, 'GET / HTTP/1.1', [`Host: ${host}`]);
    expect(reply.status).toBe(400);
    expect(reply.body).not.toContain('script');
  });

  it.each([
    ['example.com', 'http://example.com/'],
    ['EXAMPLE.com:80', 'http://example.com/'],
    ['127.0.0.1:3000', 'http://127.0.0.1:3000/'],
    ['[::1]:3000', 'http://[::1]:3000/'],
    ['my_host.local', 'http://my_host.local/'],
  ])('derives the origin of the host %s', async (host, href) => {
    expect((await askRaw(server.port, 'GET / HTTP/1.1', [`Host: ${host}`])).body).toContain(href);
  });

  it('answers 400 to two hosts', async () => {
    expect((await askRaw(server.port, 'GET / HTTP/1.1', ['Host: localhost', 'Host: evil.example'])).status).toBe(400);
    expect((await askRaw(server.port, 'GET / HTTP/1.1', ['Host: localhost', 'hOST: localhost'])).status).toBe(400);
  });

  it("uses the listener's origin for HTTP/1.0 without a host", async () => {
    const reply = await askRaw(server.port, 'GET / HTTP/1.0', []);
    expect(reply.status).toBe(200);
    expect(reply.body).toContain('http://localhost:3000/');
  });

  it('answers 400 to HTTP/1.1 without a host', async () => {
    const reply = await askRaw(server.port, 'GET / HTTP/1.1', []);
    expect([reply.status, reply.body]).toEqual([400, 'The request has no Host header, which HTTP/1.1 requires.\n']);
    expect(reply.headers).toMatchObject({ 'cache-control': 'no-store', 'x-request-id': expect.any(String) });
    const api = await askRaw(server.port, 'GET /api/echo HTTP/1.1', []);
    expect([api.status, api.headers['content-type']]).toEqual([400, 'application/problem+json']);
  });
});

describe('with PUBLIC_ORIGINS', () => {
  const publicOrigins = ['https://example.com', 'https://www.example.com'];

  it('answers 421 to a host that is not listed', async () => {
    await request(createTestApp({ publicOrigins })).get('/').set('Host', 'evil.example').expect(421);
    await request(createTestApp({ publicOrigins })).get('/').set('Host', 'example.com:8080').expect(421);
  });

  it('uses the configured origin, including its scheme, and sends HSTS', async () => {
    const reply = await request(createTestApp({ publicOrigins })).get('/').set('Host', 'www.example.com').expect(200);
    expect(reply.text).toContain('https://www.example.com/');
    expect(reply.headers['strict-transport-security']).toBe('max-age=31536000; includeSubDomains');
  });

  it('answers health checks for any host', async () => {
    await request(createTestApp({ publicOrigins })).get('/livez').set('Host', '10.0.0.7:3000').expect(200, 'ok\n');
    await request(createTestApp({ publicOrigins })).get('/readyz').set('Host', 'a b').expect(200, { status: 'ready' });
  });
});

describe('forwarded headers', () => {
  const forged = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'evil.example', 'X-Forwarded-For': '6.6.6.6' };

  it('are ignored from an untrusted address, which is logged once', async () => {
    const { log, lines } = spyOnLog();
    const app = createTestApp({ log });
    for (let count = 0; count < 2; count += 1) {
      const reply = await request(app).get('/').set('Host', 'example.com').set(forged).expect(200);
      expect(reply.text).toContain('http://example.com/');
      expect(reply.headers['strict-transport-security']).toBeUndefined();
    }
    expect(lines.filter(({ msg }) => String(msg).includes('TRUST_PROXY'))).toHaveLength(1);
  });

  it('cause a warning if Forwarded is used, which is never read', async () => {
    const { log, lines } = spyOnLog();
    const forwarded = { Forwarded: 'for=6.6.6.6;proto=https;host=evil.example' };
    const [direct, behind] = [createTestApp({ log }), createTestApp({ log, trustProxy: ['loopback'] })];
    for (const app of [direct, direct, behind, behind]) {
      const reply = await request(app).get('/').set('Host', 'example.com').set(forwarded).expect(200);
      expect(reply.text).toContain('http://example.com/');
    }
    expect(warningsOf(lines)).toEqual([
      expect.stringMatching(/not trusted.*set TRUST_PROXY to its address/),
      expect.stringMatching(/^Your proxy only sends Forwarded/),
    ]);
  });

  it('cause no warning if a trusted proxy sends them together with Forwarded', async () => {
    const { log, lines } = spyOnLog();
    await request(createTestApp({ log, trustProxy: 1 }))
      .get('/')
      .set(forged)
      .set('Forwarded', 'for=6.6.6.6')
      .expect(200);
    expect(warningsOf(lines)).toEqual([]);
  });

  it('cause one warning if the proxy accepts plain HTTP although PUBLIC_ORIGINS says https', async () => {
    const { log, lines } = spyOnLog();
    const app = createTestApp({ log, trustProxy: 1, publicOrigins: ['https://example.com', 'http://plain.example'] });
    const ask = (host: string, proto: string) =>
      request(app).get('/').set('Host', host).set('X-Forwarded-Proto', proto).expect(200);
    await ask('example.com', 'https');
    await ask('plain.example', 'http');
    expect(warningsOf(lines)).toEqual([]);
    await ask('example.com', 'http');
    await ask('example.com', 'http');
    expect(warningsOf(lines)).toEqual([expect.stringMatching(/used http, but PUBLIC_ORIGINS says https/)]);
  });

  it('are used from a trusted address', async () => {
    const reply = await request(createTestApp({ trustProxy: ['loopback'] }))
      .get('/')
      .set(forged)
      .expect(200);
    expect(reply.text).toContain('https://evil.example/');
    expect(reply.headers['strict-transport-security']).toBeDefined();
  });

  it('cannot set a host that PUBLIC_ORIGINS does not list', async () => {
    const app = createTestApp({ trustProxy: 1, publicOrigins: ['https://example.com'] });
    await request(app).get('/').set('Host', 'example.com').set(forged).expect(421);
  });
});

function warningsOf(lines: readonly Record<string, unknown>[]): unknown[] {
  return lines.filter(({ level }) => level === 40).map(({ msg }) => msg);
}
