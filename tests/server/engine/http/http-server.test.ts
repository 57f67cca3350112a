import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createHttpServer } from '../../../../src/server/engine/http/http-server.ts';
import { TEST_SERVER } from '../../../support/app.ts';
import { parseReply } from '../../../support/raw-http.ts';
import { REQUIRED_HEADERS } from '../../../support/required-headers.ts';

/** A connection on which the parser finds a fault of this code, once `ask` has come. */
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

describe('what the parser refuses', () => {
  it.each([
    ['ERR_HTTP_REQUEST_TIMEOUT', 408],
    ['HPE_HEADER_OVERFLOW', 431],
    ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
    ['HPE_INVALID_METHOD', 400],
    ['ANYTHING', 400],
  ])('by %s has all that each reply must carry', async (code, status) => {
    const text = await breakWith(code);
    const reply = parseReply(text);
    expect(reply.status).toBe(status);
    for (const name of REQUIRED_HEADERS) expect(reply.headers, name).toHaveProperty(name);
    expect(reply.headers).toMatchObject({ connection: 'close', 'cache-control': 'no-store' });
    expect(reply.body).toHaveLength(Number(reply.headers['content-length']));
    expect(text).not.toContain('canary');
  });

  it('in the middle of a reply ends that, and is not written into it', async () => {
    const text = await breakWith('HPE_INVALID_METHOD', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
  });
});
