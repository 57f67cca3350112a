import request from 'supertest';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createTestApp, serve, spyOnLog, type TestAppOptions } from '../../support/app.ts';
import { askRaw } from '../../support/raw-http.ts';

const server = await serve(createTestApp());
afterAll(server.close);

describe('without PUBLIC_ORIGINS', () => {
  const ask = (line: string, ...headers: string[]) => askRaw(server.port, line, headers);

  it.each([
    ...['a/b?c#d@e', '"><script>', 'user@host', 'localhost:99999', 'localhost:', 'a, b', 'a..b', '.a', '-a.example'],
    ...['0x7f.1', '[::1', 'a b', 'host:80:80', '%61', 'x'.repeat(300), ''],
  ])('answers 400 to the host %j', async (host) => {
    const reply = await ask('GET / HTTP/1.1', `Host: ${host}`);
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
    expect((await ask('GET / HTTP/1.1', `Host: ${host}`)).body).toContain(href);
  });

  it.each([['Host: evil.example'], ['hOST: localhost']])('answers 400 to a second host, %s', async (second) => {
    expect((await ask('GET / HTTP/1.1', 'Host: localhost', second)).status).toBe(400);
  });

  it("uses the listener's origin for HTTP/1.0 without a host, and answers 400 to HTTP/1.1", async () => {
    expect(await ask('GET / HTTP/1.0')).toMatchObject({ status: 200, body: expect.stringContaining('localhost:3000') });
    expect(await ask('GET / HTTP/1.1')).toMatchObject({
      status: 400,
      body: 'The request has no Host header, which HTTP/1.1 requires.\n',
      headers: { 'cache-control': 'no-store', 'x-request-id': expect.any(String) },
    });
    const problem = { 'content-type': 'application/problem+json' };
    expect(await ask('GET /api/echo HTTP/1.1')).toMatchObject({ status: 400, headers: problem });
  });
});

const publicOrigins = ['https://example.com', 'https://www.example.com'];
const DEVELOPMENT = { publicOrigins: [], dev: '1' };
const PUBLIC = { publicOrigins, dev: undefined };

it.each([
  ['/', 'localhost:3000', 200, DEVELOPMENT],
  ['/', 'shop.localhost', 200, DEVELOPMENT],
  ['/', '192.168.0.7:3000', 200, DEVELOPMENT],
  ['/', '[::1]:3000', 200, DEVELOPMENT],
  ['/', 'rebind.example:3000', 421, DEVELOPMENT],
  ['/', 'localhost.example', 421, DEVELOPMENT],
  ['/', 'evil.example', 421, PUBLIC],
  ['/', 'example.com:8080', 421, PUBLIC],
  ['/', 'www.example.com', 200, PUBLIC],
  ['/livez', '10.0.0.7:3000', 200, PUBLIC],
  ['/readyz', 'a b', 200, PUBLIC],
])('%s of %s gets %d with %o', async (path, host, status, { publicOrigins, dev }) => {
  vi.stubEnv('SPILLWAY_DEV', dev);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { text, headers } = await request(createTestApp({ publicOrigins })).get(path).set('Host', host).expect(status);
  if (dev && status === 421) expect(text).toContain(`Set PUBLIC_ORIGINS to http://${host} and all others`);
  if (host !== 'www.example.com') return;
  expect(text).toContain('https://www.example.com/');
  expect(headers['strict-transport-security']).toBe('max-age=31536000; includeSubDomains');
});

it.each([
  ['acme.example.com', 'https://acme.example.com/'],
  ['ACME.example.com:443', 'https://acme.example.com/'],
  ['www.example.com', 'http://www.example.com/'],
])('answers a tenant at %s with the origin %s', async (host, origin) => {
  const app = createTestApp({ publicOrigins: ['http://www.example.com', 'https://*.example.com'], trustProxy: 1 });
  const tenant = { Host: host, 'X-Forwarded-Proto': origin.split(':')[0] ?? '' };
  expect((await request(app).get('/').set(tenant).expect(200)).text).toContain(origin);
  const post = (from: string) => request(app).post('/api/echo').set(tenant).set('Cookie', 'a=b').set('Origin', from);
  await post(origin.slice(0, -1)).send({}).expect(200);
  await post('https://other.example.com').send({}).expect(403);
});

it.each(['example.com', 'a.b.example.com', '.example.com', '*.example.com', 'acme.example.com.evil.example', 'com'])(
  'refuses the host %s behind a pattern',
  async (host) => {
    const app = createTestApp({ publicOrigins: ['http://www.example.com', 'https://*.example.com'] });
    expect((await request(app).get('/').set('Host', host)).status).toBe(/^[*.]/.test(host) ? 400 : 421);
  },
);

const forged = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'evil.example', 'X-Forwarded-For': '6.6.6.6' };
const forwarded = { Forwarded: 'for=6.6.6.6;proto=https;host=evil.example' };
const https = { 'X-Forwarded-Proto': 'https' };
const http = { 'X-Forwarded-Proto': 'http' };
const trusted = { trustProxy: 1, publicOrigins: ['https://example.com', 'http://plain.example'] };

it.each<[string, TestAppOptions, sent: Record<string, string>, origin: string, warning?: RegExp]>([
  ['are ignored from an untrusted address', {}, forged, 'http://example.com/', /TRUST_PROXY/],
  ['are ignored as Forwarded', {}, forwarded, 'http://example.com/', /not trusted.*set TRUST_PROXY to its address/],
  ['are never read as Forwarded', { trustProxy: ['loopback'] }, forwarded, 'http://example.com/'],
  ['can come with Forwarded', { trustProxy: 1 }, { ...forged, ...forwarded }, 'https://evil.example/'],
  ['are used from a trusted address', { trustProxy: ['loopback'] }, forged, 'https://evil.example/'],
  ['can say https', trusted, https, 'https://example.com/'],
  ['can say http', trusted, { ...http, Host: 'plain.example' }, 'http://plain.example/'],
  ['cannot say http if PUBLIC_ORIGINS says https', trusted, http, 'https://example.com/'],
])('forwarded headers: %s, which is logged at most once', async (_name, options, sent, origin, warning) => {
  const { log, lines } = spyOnLog();
  const app = createTestApp({ log, ...options });
  for (let time = 0; time < 2; time += 1) {
    const reply = await request(app)
      .get('/')
      .set({ Host: 'example.com', ...sent })
      .expect(200);
    expect(reply.text).toContain(origin);
    expect(reply.headers['strict-transport-security'] !== undefined).toBe(origin.startsWith('https'));
  }
  const warned = lines.filter(({ level }) => level === 40).map(({ msg }) => msg);
  expect(warned).toEqual(warning ? [expect.stringMatching(warning)] : []);
});
