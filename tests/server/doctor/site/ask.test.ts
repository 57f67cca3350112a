import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import { createAsk, readJson } from '../../../../src/server/doctor/site/ask.ts';
import { MiB } from '../../../../src/shared/units.ts';

async function serve(handle: RequestListener, token?: string) {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return createAsk(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), token);
}

it('decodes bodies, and detects invalid ones', async () => {
  const bodies = {
    '/gzip': ['gzip', gzipSync('page')],
    '/br': ['br', brotliCompressSync('page')],
    '/lie': ['gzip', Buffer.from('page')],
    '/cut': ['gzip', gzipSync('page'.repeat(1000)).subarray(0, 30)],
    '/bomb': ['gzip', gzipSync(Buffer.alloc(20 * MiB))],
  } as const;
  const ask = await serve((request, response) => {
    const [encoding, body] = bodies[request.url as keyof typeof bodies];
    response.setHeader('Content-Encoding', encoding);
    response.end(body);
  });
  const read = async (path: string) => (await ask({ path })).body?.toString();
  expect([await read('/gzip'), await read('/br')]).toEqual(['page', 'page']);
  expect([await read('/lie'), await read('/cut'), await read('/bomb')]).toEqual([undefined, undefined, undefined]);
});

it('returns repeated headers, and both ends of the connection', async () => {
  let peer = 0;
  const ask = await serve((request, response) => {
    peer = request.socket.remotePort ?? 0;
    response.setHeader('X-Twice', ['a', 'b']).end('{"it":1}');
  });
  const answer = await ask({ path: '/' });
  expect(answer.distinct['x-twice']).toHaveLength(2);
  expect(answer.local).toEqual({ address: '127.0.0.1', port: peer });
  expect(readJson(answer)).toEqual({ it: 1 });
});

it('sends the token only when requested', async () => {
  const seen: (string | undefined)[] = [];
  const ask = await serve((request, response) => {
    seen.push(request.headers.authorization);
    response.end();
  }, 'a-token');
  await ask({ path: '/' });
  await ask({ path: '/', isAuthorized: true });
  expect(seen).toEqual([undefined, 'Bearer a-token']);
});

it('accepts an early response, and reports a closed connection', async () => {
  const ask = await serve((request, response) => {
    if (request.url === '/cut') request.socket.destroy();
    else response.writeHead(413).end('Too large.');
    // Unread data can discard the response when the connection closes.
    request.resume();
  });
  const body = Buffer.alloc(MiB);
  expect((await ask({ path: '/', method: 'POST', body })).status).toBe(413);
  await expect(ask({ path: '/cut', method: 'POST', body })).rejects.toMatchObject({ name: 'NoAnswerError' });
});
