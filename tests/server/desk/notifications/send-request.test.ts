import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createSendRequest } from '../../../../src/server/desk/notifications/send-request.ts';
import { createAddressFinder, type Lookup } from '../../../../src/server/engine/outgoing/find-address.ts';

async function serve(listener: RequestListener, host = '127.0.0.1') {
  const server = createServer(listener);
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

const send = (listed: readonly string[], resolve?: Lookup) =>
  createSendRequest({ addresses: createAddressFinder(listed, resolve), totalTime: 400 });

it('posts to a listed address, under the configured name', async () => {
  const seen: unknown[] = [];
  const { port } = await serve((req, res) => {
    req.setEncoding('utf8').on('data', (body) => seen.push(req.method, req.headers.host, req.url, body));
    req.on('end', () => res.writeHead(202, { 'Retry-After': '7' }).end('thanks'));
  });
  // Only our own lookup knows this name. No other resolver does.
  const reply = await send(['hooks.test'], async () => [{ address: '127.0.0.1' }])(
    new URL(`http://hooks.test:${port}/x?y=1`),
    { headers: { 'Content-Type': 'text/plain' }, body: 'hällo' },
  );
  expect(reply).toEqual({ status: 202, retryAfter: '7' });
  expect(seen).toEqual(['POST', `hooks.test:${port}`, '/x?y=1', 'hällo']);
});

it.each(['127.0.0.1', 'localhost', '[::1]', '2130706433', '0x7f000001', '127.1', '[::ffff:127.0.0.1]'])(
  'does not connect to %s if it is not listed',
  async (host) => {
    const { port, connections } = await serve((_req, res) => res.end());
    await expect(send([])(new URL(`http://${host}:${port}/`), { body: '' })).rejects.toThrow('not public');
    expect(connections()).toBe(0);
  },
);

it('connects to the address that it checked, even if the name then resolves to another', async () => {
  const { port, connections } = await serve((_req, res) => res.end());
  let lookups = 0;
  const rebinding: Lookup = async () => {
    lookups += 1;
    // TEST-NET addresses lead nowhere. This one is listed, so that the first check passes.
    return [{ address: lookups === 1 ? '192.0.2.1' : '127.0.0.1' }];
  };
  await expect(
    send(['192.0.2.0/24'], rebinding)(new URL(`http://rebind.test:${port}/`), { body: '' }),
  ).rejects.toThrow();
  expect([lookups, connections()]).toEqual([1, 0]);
});

it('does not follow redirects', async () => {
  const inside = await serve((_req, res) => res.end());
  const { port } = await serve((_req, res) => {
    res.writeHead(307, { Location: `http://127.0.0.1:${inside.port}/` }).end();
  });
  const reply = await send(['127.0.0.1'])(new URL(`http://127.0.0.1:${port}/`), { body: 'x' });
  expect(reply.status).toBe(307);
  expect(inside.connections()).toBe(0);
});

it('times out if a lookup or a response does not come', async () => {
  const never = send([], () => new Promise(() => undefined));
  await expect(never(new URL('http://slow.test/'), { body: '' })).rejects.toThrow('in time');
  const { port } = await serve(() => undefined);
  await expect(send(['127.0.0.1'])(new URL(`http://127.0.0.1:${port}/`), { body: '' })).rejects.toThrow('in time');
});

it.each([
  ['sends an endless response', 1e9],
  ['sends a byte now and then', 1],
])('disconnects a receiver that %s', async (_name, size) => {
  let bytes = 0;
  const closed = Promise.withResolvers<void>();
  const { port } = await serve((_req, res) => {
    res.writeHead(200);
    const timer = setInterval(() => {
      const chunk = Math.min(size, 8192);
      bytes += chunk;
      res.write('x'.repeat(chunk));
    }, 1);
    res.on('close', () => {
      clearInterval(timer);
      closed.resolve();
    });
  });
  const { status } = await send(['127.0.0.1'])(new URL(`http://127.0.0.1:${port}/`), { body: '' });
  expect(status).toBe(200);
  await closed.promise;
  expect(bytes).toBeLessThan(1024 * 1024);
});
