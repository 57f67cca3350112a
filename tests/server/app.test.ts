import type { ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import express, { type RequestHandler, Router } from 'express';
import request from 'supertest';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { implement } from '../../src/server/api/implement.ts';
import { resource } from '../../src/server/api/resource.ts';
import { createFailureMaker } from '../../src/server/errors/create-failure.ts';
import { createFunnel } from '../../src/server/errors/funnel.ts';
import { createPathScrubber } from '../../src/server/errors/scrub/secret-path.ts';
import { createScrubber } from '../../src/server/errors/scrub.ts';
import { checkPage } from '../../src/server/front/fixed-paths.ts';
import { HttpError } from '../../src/server/request/http-error.ts';
import { createProxyTrust } from '../../src/server/request/proxy-trust.ts';
import { operation } from '../../src/shared/api/operation.ts';
import { createTestApp, spyOnLog, startTestServer, type TestAppOptions } from '../support/app.ts';
import { askRaw, listStatuses, openSocket, sendRaw } from '../support/raw-http.ts';

it('the API answers an error with its digest and none of its details', async () => {
  const { log, lines } = spyOnLog();
  const reply = await request(createTestApp({ log })).get('/api/fail').expect(500);
  const { digest, instance } = JSON.parse(reply.text);
  expect(instance).toBe(`/failures/${reply.headers['x-error-digest']}`);
  expect(instance).toMatch(new RegExp(`^/failures/${digest}-[0-9A-HJKMNP-TV-Z]{8}$`));
  expect(JSON.stringify(reply.headers) + reply.text).not.toMatch(/canary|secret|\.ts|Error:/);
  const line = lines.find((candidate) => candidate.digest === digest && candidate.stack !== undefined);
  expect(line).toMatchObject({ origin: 'api', route: '/api/fail', requestId: reply.headers['x-request-id'] });
});

it.each(['br', 'gzip', 'gzip, gzip'])('the API answers 415 to a body with Content-Encoding %s', async (encoding) => {
  await request(createTestApp())
    .post('/api/echo')
    .set('Content-Encoding', encoding)
    .type('json')
    .send('{}')
    .expect(415);
});

const express4 = createRequire(import.meta.url)('express4') as typeof express;

/** Reads the body by itself, unless it refuses the request. */
const readBody = express().use((req, res) => {
  if (req.path.startsWith('/closed')) return void res.sendStatus(401);
  let size = 0;
  req.on('data', (chunk: Buffer) => {
    size += chunk.length;
  });
  req.on('end', () => res.send(`${size} bytes`));
});

const token = { name: 'ada', role: 'viewer', token: 'a' } as const;
const checked = checkPage({ trust: createProxyTrust(), checkToken: () => ({ kind: 'known', token }) });

const ask = async (line: string, headers: string[], parts: TestAppOptions = {}) => {
  const { port } = await startTestServer({ fixed: [checked], ...parts });
  const head = [line, 'Host: localhost', 'Connection: close', 'Expect: 100-continue', ...headers];
  // A client sends the body once it gets 100.
  const { socket, ...connection } = openSocket(port, `${head.join('\r\n')}\r\n\r\n`);
  socket.once('data', (part: string) => void (part.startsWith('HTTP/1.1 100') && socket.write('{}')));
  let text = '';
  socket.on('data', (part: string) => {
    text += part;
  });
  await connection.closed;
  return text;
};
const JSON_BODY = ['Content-Type: application/json', 'Content-Length: 2'];
const AUTHORIZED = ['Authorization: Bearer a', 'Content-Length: 2'];

it.each<[what: string, line: string, headers: string[], statuses: number[], parts?: TestAppOptions]>([
  ['an operation', 'POST /api/echo', JSON_BODY, [100, 200]],
  ['a route', 'POST /x', JSON_BODY, [100, 200], { routes: readBody }],
  ['an existing app', 'POST /x', JSON_BODY, [100, 200], { existingApp: { app: readBody } }],
  ['the check of proxies', 'POST /_check', AUTHORIZED, [100, 200]],
  ['a foreign site', 'POST /api/echo', [...JSON_BODY, 'Sec-Fetch-Site: cross-site', 'Cookie: a=1'], [403]],
  ['no operation', 'POST /api/none', JSON_BODY, [404]],
  ['another method', 'POST /api/fail', JSON_BODY, [405]],
  ['a large body', 'POST /api/echo', ['Content-Type: application/json', 'Content-Length: 5000000'], [413]],
  ['another type', 'POST /api/echo', ['Content-Type: text/plain', 'Content-Length: 2'], [415]],
  ['a route that refuses', 'POST /closed', JSON_BODY, [401], { routes: readBody }],
  ['a step that refuses', 'POST /x', JSON_BODY, [403], { steps: [(_req, res) => void res.sendStatus(403)] }],
  ['a check without a token', 'POST /_check', ['Content-Length: 2'], [404]],
])(
  'a request that waits for 100 Continue gets it if its body is read, and not if it is refused unread: %s',
  async (_what, line, headers, statuses, parts) => {
    expect(listStatuses(await ask(`${line} HTTP/1.1`, headers, parts))).toEqual(statuses);
  },
);

it('a request that waits for 100 Continue does not get it with HTTP/1.0', async () => {
  const { port } = await startTestServer();
  const head = ['POST /api/echo HTTP/1.0', 'Host: localhost', 'Expect: 100-continue', ...JSON_BODY];
  expect(listStatuses(await sendRaw(port, `${head.join('\r\n')}\r\n\r\n{}`))).toEqual([200]);
});

it.each([
  ['a route without a header', '/guests.csv', 'private, no-cache'],
  ['a route with one', '/public.csv', 'public, max-age=60'],
  ['files with an age', '/static/app.test.ts', 'public, max-age=3600'],
  ['an existing app', '/old', undefined],
])('the caching of a response by %s', async (_what, path, caching) => {
  const routes = Router()
    .get('/guests.csv', (_req, res) => void res.type('csv').send('Ada'))
    .get('/public.csv', (_req, res) => void res.set('Cache-Control', 'public, max-age=60').send('Ada'))
    .use('/static', express.static(import.meta.dirname, { maxAge: '1h' }));
  const existingApp = { app: (_req: unknown, res: ServerResponse) => void res.end('old') };
  const { port } = await startTestServer({ routes, existingApp });
  const reply = await fetch(`http://127.0.0.1:${port}${path}`);
  expect([reply.status, reply.headers.get('cache-control') ?? undefined]).toEqual([200, caching]);
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

const raise = (): never => {
  throw new Error('canary');
};

it.each<[string, RequestHandler]>([
  ['calls next(error)', (_req, _res, next) => next(new Error('canary'))],
  ['throws', raise],
  ['is rejected', async () => raise()],
])('product steps show the error page if one fails and %s', async (_name, failing) => {
  for (const path of ['/admin', '/_data/admin']) {
    const { log, lines } = spyOnLog();
    const seen: string[] = [];
    const note: RequestHandler = (req, _res, next) => next(void seen.push(req.url));
    const app = createTestApp({ log, steps: [note, failing, note] });
    const { text, headers } = await request(app).get(path).set('Accept', 'text/html').expect(500);
    expect(seen).toEqual(['/admin']);
    expect(text).toContain(`<code>${headers['x-error-digest']}</code>`);
    expect(text).not.toContain('canary');
    expect(lines.filter(({ msg }) => msg === 'A request failed.')).toMatchObject([{ origin: 'step', url: path }]);
  }
});

it.each<[status: number, what: string, RequestHandler]>([
  [200, "calls next('route')", (_req, _res, next) => next('route')],
  [404, "calls next('router')", (_req, _res, next) => next('router')],
  [200, 'returns what it should not', (_req, res, next) => Object.assign(res, next()) as never],
  [500, 'is rejected without a reason', () => Promise.reject()],
  [200, 'rewrites the URL', (req, _res, next) => next(void Object.assign(req, { url: '/nowhere' }))],
])('pages answer %i after a product step that %s, with and without an Express app', async (status, _what, step) => {
  for (const steps of [[step], [step, express()]]) {
    for (const path of ['/orders', '/_data/orders']) await request(createTestApp({ steps })).get(path).expect(status);
  }
});

it.each<[who: string, status: number, parts: TestAppOptions]>([
  ['a step refuses', 401, { steps: [(_req, res) => void res.sendStatus(401)] }],
  ['a busy server refuses', 503, { overload: { level: 9, reason: 'pages' } }],
])('redacts the secret in the path of an operation that %s', async (_who, status, parts) => {
  const { log, lines } = spyOnLog();
  const replies = { 204: { about: 'Nothing.' } };
  const contract = { read: operation({ method: 'GET', path: '/invitations/:token', summary: 'Read', replies }) };
  const api = [implement(contract, { read: () => ({ status: 204 }) })];
  const scrubPath = createPathScrubber(createScrubber());
  await request(createTestApp({ log, api, scrubPath, ...parts }))
    .get('/api/invitations/canary')
    .expect(status);
  expect(lines).toMatchObject([{ status, route: '/api/invitations/:token', path: '/api/invitations/[redacted]' }]);
});

it.each(['/', '/nowhere', '/api/fail', '/fails'])('cuts off %s if a step lets no head be written', async (path) => {
  const unhandled: unknown[] = [];
  const listen = (reason: unknown) => void unhandled.push(reason);
  process.on('unhandledRejection', listen).on('uncaughtException', listen);
  onTestFinished(() => void process.off('unhandledRejection', listen).off('uncaughtException', listen));
  const refuse: RequestHandler = (req, res, next) => {
    res.writeHead = () => {
      throw new Error('canary');
    };
    if (req.path === '/fails') throw new HttpError(404, 'There is no such thing.');
    next();
  };
  const { port } = await startTestServer({ steps: [refuse] });
  expect(await askRaw(port, `GET ${path} HTTP/1.1`)).toMatchObject({ status: 0, body: '' });
  expect((await askRaw(port, 'GET /livez HTTP/1.1')).status).toBe(200);
  expect(unhandled).toEqual([]);
});

it.each<[where: string, parts: TestAppOptions]>([
  ['in front of Express', {}],
  ['behind a step', { steps: [(_req, _res, next) => next()] }],
])('compresses the large replies of operations %s', async (_where, parts) => {
  const get = { method: 'GET', summary: 'Read' } as const;
  const texts = { 200: { about: 'The text.', body: z.object({ text: z.string() }) } };
  const contract = {
    text: operation({ ...get, path: '/texts/:length', params: z.object({ length: z.int() }), replies: texts }),
    lines: operation({ ...get, path: '/lines', replies: { 200: { about: 'All.', lines: z.object({ at: z.int() }) } } }),
  };
  const api = [
    implement(contract, {
      text: ({ params }) => ({ status: 200, body: { text: 'x'.repeat(params.length) } }),
      lines: () => ({ status: 200, lines: Readable.from([{ at: 1 }, { at: 2 }]) }),
    }),
  ];
  const app = createTestApp({ api, compression: true, ...parts });
  for (const [path, coding, sent] of [
    ['/texts/10', 'gzip', undefined],
    ['/texts/2000', 'gzip', 'gzip'],
    ['/texts/2000', 'identity', undefined],
    ['/lines', 'gzip', 'gzip'],
  ] as const) {
    const ask = request(app).get(`/api${path}`).set('Accept-Encoding', coding).responseType('text');
    const { body, headers } = await ask.expect(200);
    expect([headers.vary, headers['content-encoding']]).toEqual(['Accept-Encoding', sent]);
    if (path === '/lines') expect(String(body)).toBe('{"at":1}\n{"at":2}\n');
    else expect(JSON.parse(String(body)).text).toHaveLength(Number(path.split('/').at(-1)));
  }
});

it.each([
  ['routes', { routes: Router().use('/mail', invitations()) }],
  ['API', { api: Router().use('/mail', invitations()) }],
  ['steps', { steps: [Router().use('/mail', invitations()), Router().use('/api/mail', invitations())] }],
  ['existing app', { existingApp: { app: express().use('/mail', invitations()) } }],
  ['existing app of Express 4', { existingApp: { app: express4().use('/mail', invitations(express4.Router())) } }],
])('redacts the secret in the path of a router of Express: %s', async (what, parts) => {
  const { log, lines } = spyOnLog();
  const scrubber = createScrubber();
  const funnel = createFunnel(createFailureMaker({ build: 'test' }, { scrubber }), { log });
  const app = createTestApp({ log, funnel, scrubPath: createPathScrubber(scrubber), ...parts });
  const base = what === 'API' ? '/api/mail' : '/mail';
  await request(app).get(`${base}/invitations/canary`).expect(200);
  await request(app).get(`${base}/broken/canary`).expect(500);
  const [answered, failure, failed] = lines;
  expect(answered).toMatchObject({ route: `${base}/invitations/:token`, path: `${base}/invitations/[redacted]` });
  expect(failure).toMatchObject({ route: `${base}/broken/:token`, url: `${base}/broken/[redacted]` });
  expect(failed).toMatchObject({ route: `${base}/broken/:token`, path: `${base}/broken/[redacted]` });
});

function invitations(router = Router()) {
  return router.get('/invitations/:token', (_req, res) => void res.send('ok')).get('/broken/:token', raise);
}

it('names the route of a router of Express, and redacts the secrets of its mounts', async () => {
  const { log, lines } = spyOnLog();
  const send: RequestHandler = (_req, res) => void res.send('ok');
  const twice = Router().get('/twice/:id', send);
  const confirm = Router().get('/', send).get('/confirm', send).use('/v1', twice).use('/v2/', twice);
  const routes = Router()
    .get('/orders/:id', send)
    .use('/reset/:token', confirm)
    .use(Router().get(['/a', '/b'], send));
  const api = Router()
    .get('/orders/:id', send)
    .use('/links/:token', resource('/notes/:id', { GET: send }));
  const steps = [Router().get('/{*path}', (_req, _res, next) => next())];
  const app = createTestApp({ log, routes, api, steps, scrubPath: createPathScrubber(createScrubber()) });
  const asked: [path: string, route: string | undefined, status?: number][] = [
    ['/orders/7', '/orders/:id'],
    ['/api/orders/7', '/api/orders/:id'],
    ['/api/links/[redacted]/notes/7', '/api/links/:token/notes/:id'],
    ['/reset/[redacted]', '/reset/:token/'],
    ['/reset/[redacted]/confirm', '/reset/:token/confirm'],
    ['/reset/canary/v1/twice/7', '/twice/:id'],
    ['/a', undefined],
    ['/none', undefined, 404],
    ['/api/none', undefined, 404],
  ];
  for (const [path, route, status = 200] of asked) {
    await request(app).get(path.replace('[redacted]', 'canary')).expect(status);
    const line = lines.at(-1);
    expect([line?.path, line?.route]).toEqual([path, route]);
  }
});

it('names the routes of routers in an existing app of Express 4', async () => {
  const { log, lines } = spyOnLog();
  const send: RequestHandler = (_req, res) => void res.send('ok');
  const inner = () => express4.Router().get('/orders/:id', send);
  const app = express4().get('/plain/:id', send);
  app.use('/shops/:shop', express4.Router().use('/v1.0/', inner()));
  app.use(express4.Router().use('/b-:b', inner()));
  app.use('/files/(a|b)', inner()).use(['/c', '/d'], inner());
  const site = createTestApp({ log, existingApp: { app }, scrubPath: createPathScrubber(createScrubber()) });
  for (const [path, route] of [
    ['/plain/7', '/plain/:id'],
    ['/shops/3/v1.0/orders/7', '/shops/:shop/v1.0/orders/:id'],
    ['/b-3/orders/7', '/orders/:id'],
    ['/files/a/orders/7', '/orders/:id'],
    ['/c/orders/7', '/orders/:id'],
  ]) {
    await request(site).get(String(path)).expect(200);
    expect(lines.at(-1)).toMatchObject({ path, route });
  }
});

it.each([
  ['GET', '/%00', 400],
  ['POST', '/orders', 403],
  ['DELETE', '/%zz', 400],
])('a browser gets a page with a way on if %s %s is refused', async (method, path, status) => {
  const { port } = await startTestServer();
  const headers = ['Host: localhost', 'Accept: text/html,*/*;q=0.8', 'Sec-Fetch-Site: cross-site'];
  const reply = await askRaw(port, `${method} ${path} HTTP/1.1`, headers);
  expect(reply).toMatchObject({ status, headers: { 'content-type': 'text/html; charset=utf-8' } });
  expect(reply.body).toMatch(/<html lang="en".*<title>[^<]+\.<\/title>.*<a href="\/">Go to the start page<\/a>/s);
  expect(reply.headers['content-security-policy']).toContain("default-src 'none'");
});

it('accepts a request id only from a trusted proxy and only in a safe form', async () => {
  const app = createTestApp({ trustProxy: 1 });
  expect((await request(app).get('/').set('X-Request-Id', 'abc-12345678')).headers['x-request-id']).toBe(
    'abc-12345678',
  );
  expect((await request(app).get('/').set('X-Request-Id', '{"a":"b"} x')).headers['x-request-id']).toMatch(
    /^[0-9a-f-]{36}$/,
  );
});
