import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { RequestHandler } from 'express';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createHttpServer } from '../../../../src/server/engine/connection/http-server.ts';
import { startTestServer, TEST_SERVER } from '../../../support/app.ts';
import { parseReply } from '../../../support/raw-http.ts';
import { REQUIRED_HEADERS } from '../../../support/required-headers.ts';

/** Sends `ask`, then makes the parser fail with this code. */
async function breakWith(code: string, ask = ''): Promise<string> {
  const counted: string[] = [];
  const { server } = createHttpServer(
    (_req, res) => {
      res.writeHead(200, { 'Content-Length': 10 });
      res.write('begun');
    },
    {
      ...TEST_SERVER,
      log: pino({ enabled: false }),
      count: (_name, labels) => void counted.push(Object.values(labels ?? {}).join()),
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const served = takeSocket(server);
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1', () => socket.write(ask));
  let text = '';
  socket.setEncoding('latin1');
  socket.on('data', (part: string) => {
    text += part;
  });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const theirs = await served;
  if (ask !== '') await expect.poll(() => text, { timeout: 10_000 }).toContain('begun');
  server.emit('clientError', Object.assign(new Error('canary'), { code }), theirs);
  await closed;
  expect(counted).toEqual(ask === '' ? [text.slice(9, 12)] : []);
  return text;
}

function takeSocket(server: Server): Promise<Socket> {
  return new Promise((resolve) => server.once('connection', resolve));
}

describe('a request that the parser rejects', () => {
  it.each([
    ['ERR_HTTP_REQUEST_TIMEOUT', 408],
    ['HPE_HEADER_OVERFLOW', 431],
    ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
    ['HPE_INVALID_METHOD', 400],
    ['ANYTHING', 400],
  ])('with %s gets a response with all required headers', async (code, status) => {
    const text = await breakWith(code);
    const reply = parseReply(text);
    expect(reply.status).toBe(status);
    for (const name of REQUIRED_HEADERS) expect(reply.headers, name).toHaveProperty(name);
    expect(reply.headers).toMatchObject({ connection: 'close', 'cache-control': 'no-store' });
    expect(reply.body).toHaveLength(Number(reply.headers['content-length']));
    expect(text).not.toContain('canary');
  });

  it('in the middle of a response ends it, and nothing is written into it', async () => {
    const text = await breakWith('HPE_INVALID_METHOD', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
  });
});

const CHUNKED = 'Host: localhost\r\nTransfer-Encoding: chunked\r\n\r\n';
const BROKEN = 'no chunk\r\n';
const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

const listStatuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

/** Sends `first`, and `then` after `count` responses. @returns everything received until the server closed */
async function exchange(first: string, count = 0, then = ''): Promise<string> {
  const routes: RequestHandler = (req, res, next) => {
    // Responds after the parser has found the broken data that follows.
    if (req.path === '/slow') setTimeout(() => res.send('slow'), 50);
    else if (req.path === '/large') res.end(Buffer.alloc(5e6, 'x'));
    else next();
  };
  const server = await startTestServer({ routes });
  onTestFinished(() => server.close());
  const socket = connect(server.port, '127.0.0.1');
  let text = '';
  socket.setEncoding('latin1');
  socket.on('data', (part: string) => {
    text += part;
  });
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.write(first);
  await expect.poll(() => listStatuses(text).length, { timeout: 10_000 }).toBeGreaterThanOrEqual(count);
  if (then !== '') socket.write(then);
  await closed;
  return text;
}

const SLOW = 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n';
const POST = `POST / HTTP/1.1\r\n${CHUNKED}`;
const HEAD = `HEAD / HTTP/1.1\r\n${CHUNKED}`;
const JSON_POST = `POST /api/echo HTTP/1.1\r\nContent-Type: application/json\r\n${CHUNKED}`;

describe('a broken body', () => {
  it.each([
    ['after its response', POST, 1, [200]],
    ['after the response to a HEAD', HEAD, 1, [200]],
    ['after its response and those to the requests before it', GET + GET + POST, 3, [200, 200, 200]],
    ['in one packet with a request that is answered immediately', POST, 0, [200]],
    ['in one packet with a request that reads it', JSON_POST, 0, [400]],
    ['after a request that is still being answered', SLOW + POST, 0, [200]],
  ])('%s gets no second response', async (_name, request, answers, statuses) => {
    const text = answers === 0 ? await exchange(request + BROKEN) : await exchange(request, answers, BROKEN);
    expect(listStatuses(text)).toEqual(statuses);
  });
});

it('does not end a response before all of it was sent', async () => {
  const text = await exchange(`POST /large HTTP/1.1\r\n${CHUNKED}`, 1, BROKEN);
  expect(parseReply(text).body).toHaveLength(5e6);
});

describe.concurrent('a slow client is disconnected', () => {
  it.each([
    ['if its head never ends', 'GET / HTTP/1.1\r\nHost: a\r\n', [408]],
    [
      'if its body never ends',
      `${JSON_POST.replace(CHUNKED, 'Host: localhost\r\nContent-Length: 999\r\n\r\n')}`,
      [408],
    ],
    ['if it does not read its response', GET.replace('/', '/large'), []],
  ])('%s', async (_name, request, statuses) => {
    const [isReader] = statuses;
    const routes: RequestHandler = ({ path }, res, next) => {
      if (path !== '/large') return next();
      res.once('close', () => socket.resume()); // a client that does not read sees no end
      res.end(Buffer.alloc(5e7, 'x'));
    };
    const times = { keepAlive: 1000, request: 200, socket: isReader ? 30_000 : 200 };
    const { port, close } = await startTestServer({ routes }, { times });
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    socket.on('error', () => {});
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    const parts: Buffer[] = [];
    if (isReader) socket.on('data', (part: Buffer) => parts.push(part));
    const drip = setInterval(() => isReader && socket.write('x'), 50);
    await closed;
    clearInterval(drip);
    close();
    expect(listStatuses(Buffer.concat(parts).toString())).toEqual(statuses);
  });
});

describe('bytes that are not a request', () => {
  it('get 400 after complete requests and their responses', async () => {
    expect(listStatuses(await exchange(GET, 1, BROKEN))).toEqual([200, 400]);
  });

  it('do not affect the response to an earlier request, and close the connection after it', async () => {
    const text = await exchange(SLOW + BROKEN);
    expect(listStatuses(text)).toEqual([200]);
    expect(parseReply(text)).toMatchObject({ status: 200, body: 'slow', headers: { connection: 'close' } });
  });
});

it.each([
  ['a HEAD with a broken header', 'HEAD / HTTP/1.1\r\nno header\r\n\r\n', 400],
  ['a HEAD with a broken body', `HEAD /slow HTTP/1.1\r\n${CHUNKED}${BROKEN}`, 400],
  ['a HEAD with too many headers', `HEAD / HTTP/1.1\r\nA: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
])('answers %s without a body', async (_name, request, status) => {
  const reply = parseReply(await exchange(request));
  expect([reply.status, reply.body]).toEqual([status, '']);
});
