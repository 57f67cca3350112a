import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestHandler } from 'express';
import { pino } from 'pino';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createHttpServer } from '../../../src/server/connection/http-server.ts';
import { startTestServer, TEST_SERVER } from '../../support/app.ts';
import { listen } from '../../support/listen.ts';
import { askRaw, listStatuses, openSocket, parseReply, sendRaw } from '../../support/raw-http.ts';
import { REQUIRED_HEADERS } from '../../support/required-headers.ts';
import { until } from '../../support/until.ts';

const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

/** Makes the parser fail with this code. @returns everything received */
async function breakWith(code: string) {
  const counted: string[] = [];
  const { server } = createHttpServer(() => undefined, TEST_SERVER, {
    log: pino({ enabled: false }),
    count: (_name, labels) => void counted.push(Object.values(labels).join()),
  });
  const port = await listen(server);
  onTestFinished(() => void server.close());
  const served = new Promise<Socket>((resolve) => server.once('connection', resolve));
  const client = openSocket(port);
  server.emit('clientError', Object.assign(new Error('canary'), { code }), await served);
  await client.closed;
  expect(counted).toEqual([client.text.slice(9, 12)]);
  return client.text;
}

it.each([
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
  ['HPE_HEADER_OVERFLOW', 431],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
  ['HPE_INVALID_METHOD', 400],
  ['ANYTHING', 400],
])('a request that the parser rejects with %s gets a response with all required headers', async (code, status) => {
  const text = await breakWith(code);
  const { headers, body, ...reply } = parseReply(text);
  expect(reply.status).toBe(status);
  for (const name of REQUIRED_HEADERS) expect(headers, name).toHaveProperty(name);
  expect(headers).toMatchObject({ connection: 'close', 'cache-control': 'no-store' });
  expect(body).toHaveLength(Number(headers['content-length']));
  expect(text).not.toContain('canary');
});

const CHUNKED = 'Host: localhost\r\nTransfer-Encoding: chunked\r\n\r\n';
const BROKEN = 'no chunk\r\n';
const SLOW = 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n';
const POST = `POST / HTTP/1.1\r\n${CHUNKED}`;
const JSON_POST = `POST /api/echo HTTP/1.1\r\nContent-Type: application/json\r\n`;

/** Sends `first`, and `then` after `count` responses. @returns everything received until the server closed */
async function exchange(first: string, count = 0, then = '') {
  const routes: RequestHandler = (req, res, next) => {
    // Responds after the parser has found the broken data that follows.
    if (req.path === '/slow') setTimeout(() => res.send('slow'), 50);
    else if (req.path === '/large') res.end(Buffer.alloc(5e6, 'x'));
    else next();
  };
  const server = await startTestServer({ routes });
  const client = openSocket(server.port, first);
  await expect.poll(() => listStatuses(client.text).length).toBeGreaterThanOrEqual(count);
  if (then !== '') client.socket.write(then);
  await client.closed;
  return client.text;
}

it.each([
  ['a broken body after its response', POST, 1, BROKEN, [200]],
  ['a broken body after the response to a HEAD', POST.replace('POST', 'HEAD'), 1, BROKEN, [200]],
  ['a broken body after the responses to requests before it', GET + GET + POST, 3, BROKEN, [200, 200, 200]],
  ['a broken body in one packet with a request that is answered immediately', POST + BROKEN, 0, '', [200]],
  ['a broken body in one packet with a request that reads it', JSON_POST + CHUNKED + BROKEN, 0, '', [400]],
  ['a broken body after a request that is still being answered', SLOW + POST + BROKEN, 0, '', [200]],
  ['bytes that are not a request, after complete requests', GET, 1, BROKEN, [200, 400]],
  ['bytes that are not a request, before the response to an earlier one', SLOW + BROKEN, 0, '', [200]],
])('%s get no second response', async (_name, first, answers, broken, statuses) => {
  const text = await exchange(first, answers, broken);
  expect(listStatuses(text)).toEqual(statuses);
  if (first === SLOW + BROKEN)
    expect(parseReply(text)).toMatchObject({ body: 'slow', headers: { connection: 'close' } });
});

it('does not end a response before all of it was sent', async () => {
  const text = await exchange(`POST /large HTTP/1.1\r\n${CHUNKED}`, 1, BROKEN);
  expect(parseReply(text).body).toHaveLength(5e6);
});

it.each([
  ['if its head never ends', 'GET / HTTP/1.1\r\nHost: a\r\n', [408]],
  ['if its body never ends', `${JSON_POST}Host: localhost\r\nContent-Length: 999\r\n\r\n`, [408]],
  ['if it does not read its response', GET.replace('/', '/large'), []],
])('a slow client is disconnected %s', async (_name, request, statuses) => {
  const isReader = statuses.length > 0;
  const routes: RequestHandler = ({ path }, res, next) => {
    if (path !== '/large') return next();
    res.once('close', () => client.socket.resume()); // a client that does not read sees no end
    res.end(Buffer.alloc(5e7, 'x'));
  };
  const times = { keepAlive: 1000, request: 200, socket: isReader ? 30_000 : 200 };
  const server = await startTestServer({ routes }, { times });
  const client = openSocket(server.port, request);
  if (!isReader) client.socket.pause();
  const drip = setInterval(() => isReader && client.socket.write('x'), 50);
  await client.closed;
  clearInterval(drip);
  if (isReader) expect(listStatuses(client.text)).toEqual(statuses);
  else expect(client.text.length).toBeLessThan(5e7);
});

it.each([
  ['a HEAD with a broken header', 'HEAD / HTTP/1.1\r\nno header\r\n\r\n', 400],
  ['a HEAD with a broken body', `HEAD /slow HTTP/1.1\r\n${CHUNKED}${BROKEN}`, 400],
  ['a HEAD with too many headers', `HEAD / HTTP/1.1\r\nA: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
])('answers %s without a body', async (_name, request, status) => {
  const reply = parseReply(await exchange(request));
  expect([reply.status, reply.body]).toEqual([status, '']);
});

it('survives clients that reset their connection after a CONNECT', async () => {
  const uncaught = vi.fn();
  process.on('uncaughtException', uncaught);
  onTestFinished(() => void process.off('uncaughtException', uncaught));
  const { port } = await startTestServer();
  for (let times = 0; times < 20; times += 1) {
    const { socket } = openSocket(port);
    socket.write('CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n');
    await once(socket, 'connect');
    socket.resetAndDestroy();
  }
  expect((await askRaw(port, 'GET /livez HTTP/1.1')).status).toBe(200);
  expect(uncaught).not.toHaveBeenCalled();
});

/** A site with a slow route that counts how many requests run. */
async function startCounting(size = 10) {
  const seen = { begun: 0, atOnce: 0, most: 0 };
  const server = await startTestServer({
    async routes(req, res, next) {
      if (req.path !== '/slow') return next();
      seen.begun++;
      seen.most = Math.max(seen.most, ++seen.atOnce);
      await sleep(1);
      seen.atOnce--;
      res.type('text').send(`number ${req.query.n};${'x'.repeat(size)}`);
    },
  });
  return { port: server.port, seen };
}

/** The server closes the connection after the last request. */
const ask = (count: number) =>
  Array.from({ length: count }, (_, n) => {
    const more = n === count - 1 ? 'Connection: close\r\n' : '';
    return `GET /slow?n=${n} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`;
  }).join('');

it('runs requests that arrive in one packet one at a time, and answers them in order', async () => {
  const { port, seen } = await startCounting();
  const text = await sendRaw(port, ask(200), { patience: 20_000 });
  const numbers = [...text.matchAll(/number (\d+);/g)].map(([, number]) => Number(number));
  expect(numbers).toEqual(Array.from({ length: 200 }, (_, number) => number));
  expect(seen).toMatchObject({ begun: 200, most: 1 });
});

it('starts no more for a client that does not read, and continues when it does', async () => {
  const { port, seen } = await startCounting(1_000_000);
  const { socket } = openSocket(port, ask(60));
  socket.pause();
  await until(() => seen.begun > 1, 'the first ones');
  await sleep(500);
  const { begun } = seen;
  expect(begun).toBeLessThan(40);
  socket.resume();
  await expect.poll(() => seen.begun).toBe(60);
});

it('drops queued requests when the visitor leaves, and the process continues', async () => {
  const { port, seen } = await startCounting();
  const { socket } = openSocket(port, ask(200));
  await until(() => seen.begun > 3, 'the first ones');
  socket.destroy();
  await sleep(300);
  expect(seen.begun).toBeLessThan(200);
  expect(await sendRaw(port, ask(1))).toContain('number 0');
});

it('starts no request that follows a response which closed the connection', async () => {
  const { port, seen } = await startCounting();
  const refused = 'GET //x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc';
  expect((await sendRaw(port, refused + ask(3))).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 400']);
  // The response was sent before the body arrived, but the body is still read.
  const unread = 'POST /nothing HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n';
  expect((await sendRaw(port, `${unread}0\r\n\r\n${ask(3)}`)).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 400']);
  expect(seen.begun).toBe(0);
});
