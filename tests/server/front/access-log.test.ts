import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import express, { type NextFunction, type Response } from 'express';
import pino from 'pino';
import { expect, it } from 'vitest';
import { createAsset, type PublicFile } from '../../../src/server/front/public-files.ts';
import { startTestServer } from '../../support/app.ts';
import { askRaw, openSocket } from '../../support/raw-http.ts';
import { until } from '../../support/until.ts';

/** Waits for the line of a request. */
async function lineOf(lines: readonly Record<string, unknown>[], wanted?: string) {
  const find = () => lines.find(({ msg, path }) => msg === 'request' && (wanted ?? path) === path);
  await until(() => find() !== undefined, 'the line of the request');
  return find() ?? expect.unreachable();
}

/** The fields of each line, in their order, without those that every line has. */
it.each([
  ['a page', 'GET /orders?key=1', [], 'method path route status ms bytes address'],
  ['a HEAD', 'HEAD /orders', [], 'method path route status ms bytes address'],
  ['an unknown path', 'GET /nothing', [], 'method path status ms bytes address'],
  ['a file', 'GET /logo.svg', [], 'method path route status ms bytes address'],
  ['a refused host', 'GET /orders', ['Host: evil.example/'], 'method path status ms bytes address'],
  [
    'a traced request',
    'GET /orders',
    [`traceparent: 00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`],
    'traceId method path route status ms bytes address',
  ],
  ['a failure', 'GET /api/fail', [], 'method path route status ms bytes address digest'],
  ['a cut response', 'GET /cut', [], 'method path status ms bytes address gone'],
  ['a refusal during overload', 'GET /orders', ['X-Test: busy'], 'method path status ms bytes address shed'],
  ['a health check', 'GET /livez', [], 'method path route status ms bytes address'],
  ['a path with a secret and a quote', 'GET /key/%22', [], 'method path status ms bytes address'],
])('the line of %s is like those of the logger', async (_name, requestLine, headers, fields) => {
  const texts: string[] = [];
  const log = pino({ level: 'trace', base: { app: 'shop' } }, { write: (text) => void texts.push(text) });
  const server = await startTestServer({
    log: log.child({ part: 'site' }),
    publicOrigins: ['http://localhost'],
    scrubPath: (path) => path.replace('key', '[redacted]'),
    overload: { level: headers.includes('X-Test: busy') ? 1 : 0, reason: 'pages' },
    files: new Map([['/logo.svg', createAsset('/logo.svg', Buffer.from('<svg/>')) as PublicFile]]),
    routes(req, res, next) {
      if (req.path !== '/cut') return next();
      res.write('half');
      res.destroy();
    },
  });
  await askRaw(server.port, `${requestLine} HTTP/1.1`, [
    'X-Request-Id: forged-by-visitor',
    ...(headers.some((one) => one.startsWith('Host')) ? [] : ['Host: localhost']),
    ...headers,
  ]);
  await until(() => texts.some((text) => text.includes('"request"')), 'the line');
  const text = texts.find((one) => one.includes('"msg":"request"')) ?? '';
  const { level, time, app, part, requestId, msg, ...line } = JSON.parse(text);
  log.child({ part })[level === 20 ? 'debug' : 'info']({ requestId, ...line }, msg);
  expect(texts.at(-1)?.replace(/"time":\d+/, '')).toBe(text.replace(/"time":\d+/, ''));
  expect(Object.keys(line)).toEqual(fields.split(' '));
  expect(requestId).toMatch(/^[\da-f-]{36}$/);
  expect(text).not.toContain('key');
});

it.each([
  ['a page', '/orders', '/orders'],
  ['what an existing app answers', '/old', 'existing app'],
  ['what it answers with an error', '/old/error', 'existing app'],
  ['what it does not find', '/old/missing', undefined],
  ['what it passes on', '/nothing', undefined],
  ['server-sent events', '/old/events', 'not measured'],
])('metrics have the route of %s', async (_, path, expected) => {
  const app = express()
    .get('/old', (_req, res) => void res.send('old'))
    .get('/old/error', (_req, res) => void res.sendStatus(500))
    .get('/old/missing', (_req, res) => void res.sendStatus(404))
    .get('/old/events', (_req, res) => void res.type('text/event-stream').end('data:\n\n'));
  const routes: (string | undefined)[] = [];
  const metrics = { count() {}, observeRequest: ({ route }: { route: string | undefined }) => void routes.push(route) };
  const { port, lines } = await startTestServer({ metrics, existingApp: { app } });
  const accept = path === '/old/events' ? 'text/event-stream' : '*/*';
  await askRaw(port, `GET ${path} HTTP/1.1`, ['Host: localhost', `Accept: ${accept}`]);
  await lineOf(lines);
  expect(routes).toEqual(expected === 'not measured' ? [] : [expected]);
});

it.each([
  ['/?q=1', 200, '/'],
  [`/${'a'.repeat(9000)}?q=1`, 414, `/${'a'.repeat(9000)}`],
  ['http://other.example/orders?q=1', 400, 'http://other.example/orders'],
  ['/a%00b', 400, '/a%00b'],
  ['/caf%c3%a9?q=1', 308, '/caf%c3%a9'],
  ['/?q=%00', 400, '/'],
])('the line of %s has the path that was sent, without the query', async (target, status, path) => {
  const { port, lines } = await startTestServer({ routes: (_req, res) => void res.send('home') });
  await askRaw(port, `GET ${target} HTTP/1.1`);
  expect(await lineOf(lines)).toMatchObject({ status, path });
});

it.each<[string, (res: Response, next: NextFunction) => unknown]>([
  ['passes an error on', (_res, next) => next(new Error('broken'))],
  ['is piped', (res) => pipeline(Readable.from(breakOff()), res)],
])('the line of a response that the server broke off says so, if it %s', async (_, act) => {
  const { port, lines } = await startTestServer({
    routes: express.Router().get('/half', (_req, res, next) => {
      res.write('half');
      return act(res, next);
    }),
  });
  await askRaw(port, 'GET /half HTTP/1.1');
  const line = await lineOf(lines, '/half');
  expect(line).toMatchObject({ status: 200, broken: true });
  expect(line).not.toHaveProperty('gone');
});

async function* breakOff() {
  yield 'more';
  throw new Error('broken');
}

it.each([
  ['before any response', false, 499],
  ['during the response', true, 202],
])(
  'the line of a request whose client left %s has the status that it got, or that of nginx',
  async (_, begins, status) => {
    const { port, lines } = await startTestServer({
      routes(req, res, next) {
        if (req.path !== '/slow') return next();
        if (begins) res.status(202).write('half');
        else client.socket.destroy();
      },
    });
    const client = openSocket(port, 'GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n');
    if (begins) {
      await until(() => client.text.includes('half'), 'half of the response');
      client.socket.destroy();
    }
    expect(await lineOf(lines, '/slow')).toMatchObject({ status, gone: true });
  },
);
