import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { createContextFetch } from '../../../src/server/pages/loader-args.ts';
import { RequestInfo } from '../../../src/server/request/request-info.ts';
import { createTraceHeaders } from '../../../src/server/request/trace-headers.ts';
import { listenInTest } from '../../support/listen.ts';

function create(options: Partial<Parameters<typeof createContextFetch>[0]> = {}) {
  return createContextFetch({
    pageRequest: new AbortController(),
    traceTargets: [],
    traceHeaders: createTraceHeaders({ release: 'v1' }),
    ...options,
  });
}

it('tries up to three times, and adds a breadcrumb to the request, with the result and without the query string', async () => {
  const statuses = [500, 503, 404];
  const upstream = createServer((_req, res) => void res.writeHead(statuses.shift() ?? 200).end());
  const origin = `http://127.0.0.1:${await listenInTest(upstream)}`;
  const info = new RequestInfo({ requestId: 'request-1', method: 'GET', address: '::1', origin: 'http://localhost' });
  expect((await create({ info })(`${origin}/orders?token=canary`)).status).toBe(404);
  expect(statuses).toEqual([]);
  await create({ info })('http://127.0.0.1:1/', { method: 'POST' }).catch(() => undefined);
  expect(info.trail).toMatchObject([
    { category: 'fetch', message: `GET ${origin}/orders`, level: 'info', data: { status: 404 } },
    { category: 'fetch', message: 'POST http://127.0.0.1:1/', level: 'error' },
  ]);
});

it('includes the caller in the stack if there is no response', async () => {
  async function askForNothing() {
    await create()('http://127.0.0.1:4/');
  }
  const error = await askForNothing().catch((thrown: Error) => thrown);
  expect(error?.stack).toMatch(/^TypeError: fetch failed\n\s+at askForNothing /);
});
