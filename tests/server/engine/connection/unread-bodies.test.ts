import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { trackConnections } from '../../../../src/server/engine/connection/connections.ts';
import { drainUnreadBodies, type UnreadLimits } from '../../../../src/server/engine/connection/unread-bodies.ts';
import { createProxyTrust } from '../../../../src/server/engine/protection/proxy-trust.ts';
import { KiB, MiB, Minute } from '../../../../src/shared/units.ts';
import { startTestServer, TEST_SERVER } from '../../../support/app.ts';
import { parseReply } from '../../../support/raw-http.ts';
import { until } from '../../../support/until.ts';

interface Client {
  readonly socket: Socket;
  text: string;
  isEnded: boolean;
  isClosed: boolean;
  error: string | undefined;
}

function open(port: number, head: readonly string[], body = ''): Client {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const client: Client = { socket, text: '', isEnded: false, isClosed: false, error: undefined };
  socket.on('data', (chunk: Buffer) => {
    client.text += chunk.toString('latin1');
  });
  socket.on('end', () => {
    client.isEnded = true;
  });
  socket.on('close', () => {
    client.isClosed = true;
  });
  socket.on('error', ({ code }: NodeJS.ErrnoException) => {
    client.error = code;
  });
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  onTestFinished(() => void socket.destroy());
  return client;
}

const statusOf = ({ text }: Client) => parseReply(text).status;
const isAnswered = ({ text }: Client) => text.includes('\r\n\r\n');

describe('the sender of a body that is refused before it has arrived gets the response, and no reset', () => {
  const LENGTH = 4 * MiB;
  const ended = `Content-Length: ${LENGTH}`;

  it.each([
    ['a body that is too large', 413, 'POST /api/echo HTTP/1.1', 'Content-Type: application/json'],
    ['another type', 415, 'POST /api/echo HTTP/1.1', 'Content-Type: text/plain'],
    ['another site', 403, 'POST / HTTP/1.1', 'Origin: https://evil.example'],
    ['another host', 421, 'POST / HTTP/1.1', 'Host: evil.example'],
    ['an unknown page', 404, 'POST /none HTTP/1.1', 'A: b'],
    ['an unknown path of the API', 404, 'POST /api/none HTTP/1.1', 'A: b'],
    ['another method', 405, 'PUT /none HTTP/1.1', 'A: b'],
    ['a method that a file does not have', 405, 'POST /robots.txt HTTP/1.1', 'A: b'],
    ['a malformed URL', 400, 'POST /%00 HTTP/1.1', 'A: b'],
    ['an ambiguous end of the request', 400, 'POST / HTTP/1.1', 'Content_Length: 1'],
    ['overload', 503, 'POST /api/echo HTTP/1.1', 'X-Test: busy'],
    ['an expectation', 417, 'POST / HTTP/1.1', 'Expect: a-miracle'],
    ['too many headers', 431, 'POST / HTTP/1.1', `A: ${'x'.repeat(17 * KiB)}`],
    ['HTTP/1.0', 404, 'POST /none HTTP/1.0', 'A: b'],
  ])('for %s', async (_name, status, line, header) => {
    let level = 0;
    const server = await startTestServer({
      publicOrigins: ['http://a.example'],
      files: new Map([['/robots.txt', { type: 'text/plain', body: Buffer.from('x'), encodings: [] } as never]]),
      overload: {
        get level() {
          return level;
        },
        reason: 'pages',
      },
    });
    onTestFinished(server.close);
    if (status === 503) level = 4;
    const host = header.startsWith('Host:') ? [] : ['Host: a.example'];
    const client = open(server.port, [line, ...host, header, ended, 'Connection: close'], 'x'.repeat(KiB));
    await until(() => isAnswered(client), 'the response');
    await until(() => client.isEnded, 'its end');
    client.socket.end('x'.repeat(LENGTH - KiB));
    await until(() => client.isClosed, 'the end of the connection');
    expect([statusOf(client), client.error]).toEqual([status, undefined]);
  });
});

it('a body that was dropped to its end leaves the connection open for the next request', async () => {
  const server = await startTestServer();
  onTestFinished(server.close);
  const hidden = 'GET /admin HTTP/1.1\r\nHost: a\r\n\r\n';
  const client = open(server.port, ['POST /api/none HTTP/1.1', 'Host: a', `Content-Length: ${hidden.length}`]);
  await until(() => isAnswered(client), 'the response');
  client.socket.write(`${hidden}GET /orders HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
  await until(() => client.isEnded, 'the end of the connection');
  expect(client.text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404', 'HTTP/1.1 200']);
  expect(client.text).not.toContain('/admin');
});

describe('the limits', () => {
  async function start(limits: Partial<UnreadLimits>, listener: RequestListener = (_req, res) => res.end('no')) {
    const server = createServer(listener);
    const trust = createProxyTrust(['loopback']);
    const log = pino({ enabled: false });
    const connections = trackConnections(server, { ...TEST_SERVER, trust, log });
    drainUnreadBodies(server, connections, trust, { bytes: MiB, time: Minute, silence: Minute, ...limits });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    const { port } = server.address() as AddressInfo;
    const post = (more: readonly string[] = [], body = '', length = 100 * MiB) =>
      open(port, ['POST / HTTP/1.1', 'Host: a', `Content-Length: ${length}`, ...more], body);
    return { post, isEmpty: () => connections.sockets.size === 0 };
  }

  it.each([
    ['bytes', { bytes: 100 * KiB }, 'x'.repeat(200 * KiB)],
    ['time', { time: 100 }, 'x'],
    ['silence', { silence: 100 }, 'x'],
  ])('of %s close the connection, because the rest would be read as a request', async (_name, limits, body) => {
    const { post, isEmpty } = await start(limits);
    for (const more of [[], ['Connection: close']]) {
      const client = post(more);
      await until(() => isAnswered(client), 'the response');
      client.socket.write(`${body}GET / HTTP/1.1\r\nHost: a\r\n\r\n`);
      await until(isEmpty, 'the end of the connection');
      expect(client.text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
    }
  });

  it('of bodies of one sender reset the others of that sender', async () => {
    const { post } = await start({ senderBodies: 2 });
    const from = (sender: string) => post([`X-Forwarded-For: ${sender}`], 'x');
    const first = [from('203.0.113.1'), from('203.0.113.1')];
    await until(() => first.every(isAnswered), 'the first responses');
    const third = from('203.0.113.1');
    await until(() => third.isClosed || third.isEnded, 'the end of the third connection');
    const other = from('203.0.113.2');
    await until(() => isAnswered(other), 'the response to another sender');
    first[0]?.socket.destroy();
    await until(() => first[0]?.isClosed === true, 'the end of the first connection');
    expect([first[1], other].map((client) => client?.isEnded)).toEqual([false, false]);
  });

  it('do not apply to a handler that reads on after its response', async () => {
    let read = 0;
    const { post } = await start({ bytes: KiB, time: 1, silence: 1 }, (req, res) => {
      req.on('data', (chunk: Buffer) => {
        read += chunk.length;
      });
      res.end('working on it');
    });
    const client = post([], '', 300 * KiB);
    await until(() => isAnswered(client), 'the response');
    for (let part = 1; part <= 3; part += 1) {
      client.socket.write('x'.repeat(100 * KiB));
      await until(() => read === part * 100 * KiB, 'its bytes');
    }
    client.socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await until(() => client.text.match(/HTTP/g)?.length === 2, 'the next response');
  });
});
