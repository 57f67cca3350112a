import { describe, expect, it, onTestFinished } from 'vitest';
import type { AppDeps } from '../../../../src/server/app.ts';
import { spyOnLog, startTestServer } from '../../../support/app.ts';
import { parseReply, sendRaw } from '../../../support/raw-http.ts';
import { until } from '../../../support/until.ts';

const HEAD = 'POST /upload HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n';
const CHUNK = `3e8\r\n${'x'.repeat(1000)}\r\n`;

/** A server with a product route that responds without reading the body. */
async function startUploads(before: (req: Parameters<NonNullable<AppDeps['routes']>>[0]) => void = () => {}) {
  const { log, lines } = spyOnLog();
  const server = await startTestServer({
    log,
    routes(req, res, next) {
      if (req.path !== '/upload') return next();
      before(req);
      res.status(202).send('taken');
    },
  });
  onTestFinished(() => server.close());
  const line = () => lines.find(({ msg, path }) => msg === 'request' && path === '/upload');
  return { port: server.port, line };
}

async function isAlive(port: number): Promise<boolean> {
  return parseReply(await sendRaw(port, 'GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')).status === 200;
}

describe('a request with an unread body', () => {
  it.each([
    ['all of which arrived', `${CHUNK.repeat(3)}0\r\n\r\n`],
    ['of which more arrived than is buffered', `${CHUNK.repeat(500)}0\r\n\r\n`],
    ['of which only the beginning arrived', CHUNK],
    ['of which nothing arrived', ''],
  ])('is logged with the bytes of its response, %s', async (_name, body) => {
    const { port, line } = await startUploads();
    const reply = await sendRaw(port, HEAD + body, { patience: 200 });
    expect(parseReply(reply)).toMatchObject({ status: 202, body: expect.stringContaining('taken') });
    await until(() => line() !== undefined, 'the line of the request');
    expect(line()).toMatchObject({ method: 'POST', status: 202, bytes: expect.any(Number) });
    expect(line()?.bytes).toBeGreaterThan(100);
    expect(line()).not.toHaveProperty('gone');
    expect(await isAlive(port)).toBe(true);
  });

  it('is logged if the visitor left before the response', async () => {
    const { port, line } = await startUploads((req) => req.socket.destroy());
    await sendRaw(port, HEAD + CHUNK, { patience: 200 });
    await until(() => line() !== undefined, 'the line of the request');
    expect(line()).toMatchObject({ method: 'POST', gone: true });
    expect(await isAlive(port)).toBe(true);
  });
});

it('logs a request that has lost its socket, and keeps the process alive', async () => {
  const { port, line } = await startUploads((req) => {
    Object.assign(req, { socket: null });
  });
  const reply = await sendRaw(port, `${HEAD}${CHUNK}0\r\n\r\n`, { patience: 200 });
  expect(parseReply(reply).status).toBe(202);
  await until(() => line() !== undefined, 'the line of the request');
  expect(line()?.bytes).toBeGreaterThan(100);
  expect(await isAlive(port)).toBe(true);
});
