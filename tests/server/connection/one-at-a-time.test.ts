import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { startTestServer } from '../../support/app.ts';
import { sendRaw } from '../../support/raw-http.ts';
import { until } from '../../support/until.ts';

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
  onTestFinished(() => server.close());
  return { port: server.port, seen };
}

const ask = (count: number): string =>
  Array.from({ length: count }, (_, n) => `GET /slow?n=${n} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join('');

it('runs requests that arrive in one packet one at a time, and answers them in order', async () => {
  const { port, seen } = await startCounting();
  const text = await sendRaw(port, ask(500), { patience: 2000 });
  const numbers = [...text.matchAll(/number (\d+);/g)].map(([, number]) => Number(number));
  expect(numbers).toEqual(Array.from({ length: 500 }, (_, number) => number));
  expect(seen).toMatchObject({ begun: 500, most: 1 });
}, 30_000);

it('starts no more for a client that does not read, and continues when it does', async () => {
  const { port, seen } = await startCounting(1_000_000);
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.pause();
  socket.write(ask(60));
  await until(() => seen.begun > 1, 'the first ones');
  await sleep(500);
  const { begun } = seen;
  expect(begun).toBeLessThan(40);
  socket.resume();
  await expect.poll(() => seen.begun, { timeout: 20_000 }).toBe(60);
  socket.destroy();
}, 30_000);

it('drops queued requests when the visitor leaves, and the process continues', async () => {
  const { port, seen } = await startCounting();
  const socket = connect(port, '127.0.0.1');
  socket.write(ask(200));
  await until(() => seen.begun > 3, 'the first ones');
  socket.destroy();
  await sleep(300);
  expect(seen.begun).toBeLessThan(200);
  expect(await sendRaw(port, ask(1), { patience: 300 })).toContain('number 0');
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
