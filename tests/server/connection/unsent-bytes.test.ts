import type { RequestHandler } from 'express';
import { expect, it } from 'vitest';
import { MiB } from '../../../src/shared/units.ts';
import { startTestServer } from '../../support/app.ts';
import { openSocket } from '../../support/raw-http.ts';
import { until } from '../../support/until.ts';

it('clients that do not read are closed when too much waits for them, and others get all', async () => {
  const large = Buffer.alloc(24 * MiB, 'x');
  const routes: RequestHandler = (_req, res) => void res.send(large);
  const counted: unknown[] = [];
  const server = await startTestServer(
    { routes },
    { maxUnsentBytes: 1 * MiB, count: (name, labels) => counted.push([name, labels]) },
  );
  const ask = 'GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n';
  const silent = [1, 2].map(() => {
    const client = openSocket(server.port, ask);
    client.socket.pause();
    return client;
  });
  const read = fetch(`http://127.0.0.1:${server.port}/x`).then((reply) => reply.arrayBuffer());
  expect((await read).byteLength).toBe(large.length);
  await until(() => counted.length === 2, 'the sockets to be closed');
  expect(counted).toEqual(Array(2).fill(['spillway_connections_closed_total', { limit: 'unsent' }]));
  for (const { socket } of silent) socket.resume();
  // They read first what the server had sent before.
  await until(() => silent.every(({ isClosed }) => isClosed), 'the clients to see it');
});
