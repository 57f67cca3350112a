import { createRequire } from 'node:module';
import express, { type RequestHandler, type Response } from 'express';
import { describe, expect, it } from 'vitest';
import { startTestServer } from '../../support/app.ts';
import { askRaw } from '../../support/raw-http.ts';

it.each([true, false])(
  'reports a write after the end as a failure of that request, compressed: %s',
  async (compression) => {
    const late: RequestHandler = (req, res, next) => {
      if (!req.url.startsWith('/late')) return next();
      if (req.url === '/late-event') res.type('text/event-stream'); // ended by the drain, while the handler sends on
      res.end('whole');
      res.end();
      res.write('late');
    };
    const { port, lines } = await startTestServer({ compression, steps: [late] });
    const ask = (path: string, accept = '*/*') => fetch(`http://127.0.0.1:${port}${path}`, { headers: { accept } });
    await ask('/late-event', 'text/event-stream');
    const response = await ask('/late');
    expect(await response.text()).toBe('whole');
    const title = expect.stringContaining('LateWrite: The reply had ended');
    const requestId = response.headers.get('X-Request-Id');
    await expect
      .poll(() => lines.filter(({ digest }) => digest !== undefined))
      .toMatchObject([{ origin: 'request', title, requestId }]);
    expect((await ask('/api/echo')).status).toBe(200);
  },
);

/** What Node or JavaScript refuses before the head is sent. */
const REFUSED: Readonly<Record<string, (res: Response) => unknown>> = {
  'end(42)': (res) => res.end(42),
  'write(42)': (res) => res.write(42),
  'the status 1000': (res) => Object.assign(res, { statusCode: 1000 }).end('x'),
  'the status 1000 and a long text': (res) =>
    Object.assign(res.type('text'), { statusCode: 1000 }).end('x'.repeat(5000)),
  'the status "abc"': (res) => Object.assign(res, { statusCode: 'abc' }).end(),
  'writeHead() with a bad name': (res) => res.writeHead(200, { 'a b': 'c' }),
  'a bad reason phrase': (res) => Object.assign(res, { statusMessage: 'b\nc' }).end('x'),
  'json() of a circle': (res) => {
    const circle: { self?: object } = {};
    circle.self = circle;
    res.json(circle);
  },
  'an error after headers of chunks': (res) => {
    res.set({ 'Transfer-Encoding': 'chunked', Trailer: 'X-A' });
    throw new Error('late');
  },
};

describe.each([
  ['an existing app of Express 4', createRequire(import.meta.url)('express4') as typeof express, true],
  ['an existing app of Express 5', express, true],
  ['routes', express.Router, false],
] as const)('a reply of %s that is refused', (_, create, isExisting) => {
  it.each(Object.entries(REFUSED))('becomes a whole 500: %s', async (_name, act) => {
    const handler = create();
    handler.get('/x', (_req, res) => void act(res));
    for (const compression of [false, true]) {
      const app = isExisting ? { existingApp: { app: handler } } : { routes: handler };
      const server = await startTestServer({ ...app, compression });
      const head = ['Host: localhost', 'Accept-Encoding: gzip'];
      const { status, headers, body } = await askRaw(server.port, 'GET /x HTTP/1.1', head);
      expect([status, headers.trailer]).toEqual([500, undefined]);
      if (headers['content-encoding']) continue;
      expect(Buffer.byteLength(body, 'latin1')).toBe(Number(headers['content-length']));
      expect(body).toContain(headers['x-error-digest']);
    }
  });
});
