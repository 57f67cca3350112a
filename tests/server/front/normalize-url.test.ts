import { afterAll, describe, expect, it } from 'vitest';
import { createTestApp, serve } from '../../support/app.ts';
import { askRaw } from '../../support/raw-http.ts';

const server = await serve(createTestApp());
afterAll(server.close);

describe('spellings of a path', () => {
  it.each([
    ...['/x/../admin', '/x/%2e%2e/admin', '/x/%2E%2E/admin', '/x/.%2e/admin', '//x/admin', '//admin'],
    ...['/./admin', '/%2e/admin', '/\\x/admin', '/\\admin', '/%5cadmin', '/admin%2f', '/%2fadmin', '/..%2f'],
    ...['/..%2fadmin', '/..', '/admin/..', '/.', '//evil.example/x', '/\\evil.example/x', '///evil.example'],
    ...['//', '//[', '//a:99999/', '/%5c%5cevil.example', '/a%2eb', '/me%2f..%2fa.css'],
    ...['/%', '/%E0%A4%A', '/%zz', '/%00', '/a%00b', '/%ff', '/%C0%AF', '/%0a', '/%0d%0aX-A:b', '/%7f'],
    ...['/%c2%85', '/?a=%', '/?a=%ff', '/?a=%00', '/\xe9', '/?a=\xe9', '/a#b'],
  ])('rejects %j', async (path) => {
    const reply = await askRaw(server.port, `GET ${path} HTTP/1.1`);
    expect([reply.status, reply.headers['content-type']]).toEqual([400, 'text/plain; charset=utf-8']);
  });

  it.each([
    ['/%61dmin', '/admin'],
    ['/%61%64%6D%69n?a=1', '/admin?a=1'],
    ['/caf%c3%a9', '/caf%C3%A9'],
    ['/a%40b', '/a@b'],
    ['/a|b', '/a%7Cb'],
  ])('redirects %s to its normal form %s', async (path, canonical) => {
    const reply = await askRaw(server.port, `GET ${path} HTTP/1.1`);
    expect(reply.status).toBe(308);
    expect(reply.headers.location).toBe(canonical);
    const second = await askRaw(server.port, `GET ${canonical} HTTP/1.1`);
    expect([200, 404]).toContain(second.status);
  });

  it('does not change an ordinary path and query string', async () => {
    const reply = await askRaw(server.port, 'GET /orders?q=a%20b&c=%0A&d=%C3%A9 HTTP/1.1');
    expect(reply.status).toBe(200);
    expect(reply.body).toContain('http://localhost/orders?q=a%20b&amp;c=%0A&amp;d=%C3%A9');
  });
});

it.each([
  ['GET http://localhost/admin HTTP/1.1', 200],
  ['GET HTTP://LOCALHOST/admin HTTP/1.1', 200],
  ['GET http://localhost HTTP/1.1', 200],
  ['GET http://localhost?x=1 HTTP/1.1', 200],
  ['GET http://evil.example/admin HTTP/1.1', 400],
  ['GET http://localhost@evil.example/ HTTP/1.1', 400],
  ['GET http://evil.example@localhost/ HTTP/1.1', 400],
  ['GET ftp://localhost/ HTTP/1.1', 400],
  ['GET http:/// HTTP/1.1', 400],
  ['GET admin HTTP/1.1', 400],
  ['GET * HTTP/1.1', 405],
  ['OPTIONS * HTTP/1.1', 204],
])('answers the request line %s with %i', async (line, status) => {
  const reply = await askRaw(server.port, line);
  expect(reply.status).toBe(status);
  expect(reply.body).not.toContain('evil');
});

it('answers 414 for a URL of 9 KB and 431 for one of 17 KB', async () => {
  expect((await askRaw(server.port, `GET /${'a'.repeat(9000)} HTTP/1.1`)).status).toBe(414);
  expect((await askRaw(server.port, `GET /${'a'.repeat(17_000)} HTTP/1.1`)).status).toBe(431);
  expect((await askRaw(server.port, `GET /${'a'.repeat(8000)} HTTP/1.1`)).status).toBe(404);
});

it.each(['TRACE', 'PURGE', 'PROPFIND', 'LINK', 'SEARCH', 'MKCOL', 'QUERY', 'CONNECT'])(
  'answers 405 to %s',
  async (method) => {
    const target = method === 'CONNECT' ? 'localhost:80' : '/admin';
    const reply = await askRaw(server.port, `${method} ${target} HTTP/1.1`);
    expect(reply.status).toBe(405);
    expect(reply.headers.allow).toBe('GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS');
    expect(reply.headers['x-content-type-options']).toBe('nosniff');
  },
);

it('answers 400 to an unknown method', async () => {
  expect((await askRaw(server.port, 'FOO / HTTP/1.1')).status).toBe(400);
});

const chunks = '3\r\na=1\r\n0\r\n\r\n';

it.each([
  ['HTTP/1.1', 'Transfer-Encoding: gzip, chunked'],
  ['HTTP/1.1', 'Transfer-Encoding: identity, chunked'],
  ['HTTP/1.1', 'Transfer-Encoding: identity\r\nTransfer-Encoding: chunked'],
  ['HTTP/1.1', 'Transfer_Encoding: chunked'],
  ['HTTP/1.1', 'Content_Length: 3'],
  ['HTTP/1.0', 'Transfer-Encoding: chunked'],
  ['HTTP/0.9', 'Content-Length: 5'],
])('a request whose end is ambiguous is rejected, and its connection closed: %s, %j', async (version, header) => {
  const reply = await askRaw(server.port, `POST /orders ${version}`, ['Host: localhost', header], chunks);
  expect(reply.status).toBe(400);
  expect(reply.headers.connection).toBe('close');
  expect(reply.body).toMatch(/Transfer-Encoding|twice|version of HTTP/);
});

it.each(['chunked', 'Chunked'])(
  'a request whose end is ambiguous does not include one with the coding %s',
  async (coding) => {
    const headers = ['Host: localhost', `Transfer-Encoding: ${coding}`];
    expect((await askRaw(server.port, 'POST /orders HTTP/1.1', headers, chunks)).status).toBe(200);
  },
);
