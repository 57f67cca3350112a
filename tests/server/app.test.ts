import { type RequestHandler, Router } from 'express';
import request from 'supertest';
import { afterAll, describe, expect, it } from 'vitest';
import { createTestApp, serve, spyOnLog, startTestServer } from '../support/app.ts';
import { askRaw, sendRaw } from '../support/raw-http.ts';

const server = await serve(createTestApp());
afterAll(server.close);

describe('the API', () => {
  it('answers an error with its digest and none of its details', async () => {
    const { log, lines } = spyOnLog();
    const reply = await request(createTestApp({ log })).get('/api/fail').expect(500);
    const { digest, instance } = JSON.parse(reply.text);
    expect(instance).toBe(`/failures/${reply.headers['x-error-digest']}`);
    expect(instance).toMatch(new RegExp(`^/failures/${digest}-[0-9A-HJKMNP-TV-Z]{8}$`));
    expect(JSON.stringify(reply.headers) + reply.text).not.toMatch(/canary|secret|\.ts|Error:/);
    const line = lines.find((candidate) => candidate.digest === digest && candidate.stack !== undefined);
    expect(line).toMatchObject({ origin: 'api', route: '/api/fail', requestId: reply.headers['x-request-id'] });
  });

  it.each(['br', 'gzip', 'gzip, gzip'])('answers 415 to a body with Content-Encoding %s', async (encoding) => {
    await request(createTestApp())
      .post('/api/echo')
      .set('Content-Encoding', encoding)
      .type('json')
      .send('{}')
      .expect(415);
  });

  it('sends 100 Continue only if it will read the body', async () => {
    const expect100 = [
      'Host: localhost',
      'Content-Type: application/json',
      'Content-Length: 2',
      'Expect: 100-continue',
    ].join('\r\n');
    expect(await sendRaw(server.port, `POST /api/echo HTTP/1.1\r\n${expect100}\r\n\r\n{}`)).toMatch(
      /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200/,
    );
    const refused = await sendRaw(
      server.port,
      `POST /api/echo HTTP/1.1\r\nSec-Fetch-Site: cross-site\r\nCookie: a=1\r\n${expect100}\r\n\r\n`,
    );
    expect(refused).toMatch(/^HTTP\/1\.1 403/);
    expect(refused).not.toContain('100 Continue');
  });
});

it('pages are protected by a product step in every spelling of their URL, page data included', async () => {
  const steps = Router().use('/admin', (_req, res) => void res.status(403).send('gate'));
  const own = await startTestServer({ steps: [steps] });
  const spellings = [
    '/admin',
    '/Admin',
    '/admin/',
    '/%61dmin',
    '/x/../admin',
    '/x/%2e%2e/admin',
    '//x/admin',
    '/./admin',
    '/%2e/admin',
    '/\\x/admin',
    '//admin',
    '/admin%2f',
    '/admin?x',
    'http://localhost/admin',
    '/_data/admin',
    '/_data/%61dmin',
    '/_data//admin',
    '/x/..;/admin',
    '/admin;x',
    '/_data/../admin',
  ];
  for (const spelling of spellings) {
    const reply = await askRaw(own.port, `GET ${spelling} HTTP/1.1`);
    expect([spelling, reply.status], spelling).not.toEqual([spelling, 200]);
  }
  expect((await askRaw(own.port, 'GET /_data/orders HTTP/1.1')).status).toBe(200);
});

/** A step that records the URL under which it saw a request. */
const note = (calls: string[], name: string): RequestHandler =>
  function noted(req, _res, next) {
    calls.push(`${name} ${req.url}`);
    next();
  };

it.each([
  ['calls next(error)', (_req, _res, next) => next(new Error('canary'))],
  [
    'throws',
    () => {
      throw new Error('canary');
    },
  ],
  ['is rejected', async () => Promise.reject(new Error('canary'))],
] satisfies [string, RequestHandler][])(
  'product steps show the error page if one fails and %s',
  async (_name, failing) => {
    for (const path of ['/admin', '/_data/admin']) {
      const { log, lines } = spyOnLog();
      const calls: string[] = [];
      const steps = [note(calls, 'first'), failing, note(calls, 'last')];
      const reply = await request(createTestApp({ log, steps })).get(path).set('Accept', 'text/html').expect(500);
      expect(calls).toEqual(['first /admin']);
      expect(reply.text).toContain('Application error:');
      expect(reply.text).toContain(`<code>${reply.headers['x-error-digest']}</code>`);
      expect(reply.text).not.toContain('canary');
      const failures = lines.filter(({ msg }) => msg === 'A request failed.');
      expect(failures).toHaveLength(1);
      expect(failures[0]).toMatchObject({ origin: 'step', url: path });
    }
  },
);

it('accepts a request id only from a trusted proxy and only in a safe form', async () => {
  const app = createTestApp({ trustProxy: 1 });
  expect((await request(app).get('/').set('X-Request-Id', 'abc-12345678')).headers['x-request-id']).toBe(
    'abc-12345678',
  );
  expect((await request(app).get('/').set('X-Request-Id', '{"a":"b"} x')).headers['x-request-id']).toMatch(
    /^[0-9a-f-]{36}$/,
  );
});
