import { createServer } from 'node:http';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { trackConnections } from '../../../src/server/connection/connections.ts';
import { drainUnreadBodies } from '../../../src/server/connection/unread-bodies.ts';
import { createProxyTrust } from '../../../src/server/request/proxy-trust.ts';
import { KiB, MiB, Minute } from '../../../src/shared/units.ts';
import { startTestServer, TEST_SERVER } from '../../support/app.ts';
import { listenInTest } from '../../support/listen.ts';
import { listStatuses, openSocket } from '../../support/raw-http.ts';
import { until } from '../../support/until.ts';

const GET = 'GET /admin HTTP/1.1\r\nHost: a\r\n\r\n';

const open = (port: number, head: readonly string[], body = '') =>
  openSocket(port, `${head.join('\r\n')}\r\n\r\n${body}`, { allowHalfOpen: true });
const isAnswered = ({ text }: { text: string }) => text.includes('\r\n\r\n');

it.each([
  ['a body that is too large', 413, 'POST /api/echo HTTP/1.1', 'Content-Type: application/json'],
  ['another type', 415, 'POST /api/echo HTTP/1.1', 'Content-Type: text/plain'],
  ['another site', 403, 'POST / HTTP/1.1', 'Origin: https://evil.example'],
  ['another host', 421, 'POST / HTTP/1.1', 'Host: evil.example'],
  ['an unknown page', 404, 'POST /none HTTP/1.1', 'A: b'],
  ['another method', 405, 'PUT /none HTTP/1.1', 'A: b'],
  ['a malformed URL', 400, 'POST /%00 HTTP/1.1', 'A: b'],
  ['an ambiguous end of the request', 400, 'POST / HTTP/1.1', 'Content_Length: 1'],
  ['overload', 503, 'POST /api/echo HTTP/1.1', 'X-Test: busy'],
  ['too many headers', 431, 'POST / HTTP/1.1', `A: ${'x'.repeat(17 * KiB)}`],
])(
  'a body that is refused before it has arrived, for %s, gets the response and no reset',
  async (_name, status, line, header) => {
    const server = await startTestServer({
      publicOrigins: ['http://a.example'],
      overload: { level: status === 503 ? 4 : 0, reason: 'pages' },
    });
    const length = 4 * MiB;
    const host = header.startsWith('Host:') ? [] : ['Host: a.example'];
    const head = [line, ...host, header, `Content-Length: ${length}`, 'Connection: close'];
    const client = open(server.port, head, 'x'.repeat(KiB));
    await until(() => isAnswered(client), 'the response');
    await until(() => client.isEnded, 'its end');
    client.socket.end('x'.repeat(length - KiB));
    await until(() => client.isClosed, 'the end of the connection');
    expect([listStatuses(client.text), client.error]).toEqual([[status], undefined]);
  },
);

it('a body that was dropped to its end leaves the connection open for the next request', async () => {
  const server = await startTestServer();
  const client = open(server.port, ['POST /api/none HTTP/1.1', 'Host: a', `Content-Length: ${GET.length}`]);
  await until(() => isAnswered(client), 'the response');
  client.socket.write(`${GET}GET /orders HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
  await until(() => client.isEnded, 'the end of the connection');
  expect(listStatuses(client.text)).toEqual([404, 200]);
  expect(client.text).not.toContain('/admin');
});

async function start(limits: Parameters<typeof drainUnreadBodies>[3]) {
  const server = createServer((_req, res) => res.end('no'));
  const trust = createProxyTrust(['loopback']);
  const connections = trackConnections(server, { ...TEST_SERVER, trust, log: pino({ enabled: false }) });
  drainUnreadBodies(server, connections, trust, { bytes: MiB, time: Minute, silence: Minute, ...limits });
  const port = await listenInTest(server);
  const post = (more: readonly string[] = [], body = '', length = 100 * MiB) =>
    open(port, ['POST / HTTP/1.1', 'Host: a', `Content-Length: ${length}`, ...more], body);
  return { post, isEmpty: () => connections.sockets.size === 0 };
}

it.each([
  ['bytes', { bytes: 100 * KiB }, 'x'.repeat(200 * KiB)],
  ['time', { time: 100 }, 'x'],
  ['silence', { silence: 100 }, 'x'],
])(
  'the limits of %s close the connection, because the rest would be read as a request',
  async (_name, limits, body) => {
    const { post, isEmpty } = await start(limits);
    for (const more of [[], ['Connection: close']]) {
      const client = post(more);
      await until(() => isAnswered(client), 'the response');
      client.socket.write(body + GET);
      await until(isEmpty, 'the end of the connection');
      expect(listStatuses(client.text)).toEqual([200]);
    }
  },
);

it('the limits of bodies of one sender reset the others of that sender', async () => {
  const { post } = await start({ senderBodies: 2 });
  const from = (sender: string) => post([`X-Forwarded-For: ${sender}`], 'x');
  const [first, second] = [from('203.0.113.1'), from('203.0.113.1')];
  await until(() => [first, second].every(isAnswered), 'the first responses');
  const third = from('203.0.113.1');
  await until(() => third.isClosed || third.isEnded, 'the end of the third connection');
  const other = from('203.0.113.2');
  await until(() => isAnswered(other), 'the response to another sender');
  first.socket.destroy();
  await until(() => first.isClosed, 'the end of the first connection');
  expect([second.isEnded, other.isEnded]).toEqual([false, false]);
});
