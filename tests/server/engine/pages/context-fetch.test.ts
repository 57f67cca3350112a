import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createContextFetch } from '../../../../src/server/engine/pages/context-fetch.ts';
import { RequestInfo } from '../../../../src/server/engine/request/request-info.ts';
import { createTraceHeaders } from '../../../../src/server/engine/request/trace-headers.ts';

const TRACE = { traceId: '0af7651916cd43dd8448eb211c80319c', parentId: '00f067aa0ba902b7', sampled: true };

/** A separate server that responds with each status in turn, then repeats the last. */
async function startUpstream(statuses: readonly number[], listener?: RequestListener) {
  const asked: IncomingMessage[] = [];
  const server = createServer((req, res) => {
    asked.push(req);
    if (listener) return listener(req, res);
    res.statusCode = statuses[Math.min(asked.length, statuses.length) - 1] ?? 200;
    res.end(`answer ${asked.length}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, asked };
}

function create(options: Partial<Parameters<typeof createContextFetch>[0]> = {}) {
  return createContextFetch({
    signal: () => new AbortController().signal,
    trace: () => TRACE,
    traceTargets: [],
    traceHeaders: createTraceHeaders({ release: 'v1' }),
    ...options,
  });
}

it('adds a breadcrumb to the request, with the result and without the query string', async () => {
  const { origin } = await startUpstream([404]);
  const info = new RequestInfo({ requestId: 'request-1', method: 'GET', address: '::1', origin: 'http://localhost' });
  await create({ info })(`${origin}/orders?token=canary`);
  await create({ info })('http://127.0.0.1:1/', { method: 'POST' }).catch(() => undefined);
  expect(info.trail).toMatchObject([
    { category: 'fetch', message: `GET ${origin}/orders`, level: 'info', data: { status: 404 } },
    { category: 'fetch', message: 'POST http://127.0.0.1:1/', level: 'error' },
  ]);
});

it('includes the caller in the stack if there is no response', async () => {
  async function askForNothing(): Promise<void> {
    await create()('http://127.0.0.1:4/');
  }
  const error = await askForNothing().catch((thrown: Error) => thrown);
  expect(error?.stack).toMatch(/^TypeError: fetch failed\n\s+at askForNothing /);
});

describe('context.fetch', () => {
  it('sends trace headers only to the listed origins', async () => {
    const listed = await startUpstream([200]);
    const other = await startUpstream([200]);
    const contextFetch = create({ traceTargets: [listed.origin] });
    await contextFetch(`${listed.origin}/a`, { headers: { Baggage: 'mine=1', 'X-Mine': '1' } });
    await contextFetch(new Request(`${listed.origin}/b`, { headers: { 'X-Mine': '2' } }));
    await contextFetch(new URL(`${other.origin}/${listed.origin}`));
    await contextFetch(`${listed.origin.replace('http://', 'http://user@')}.evil.invalid/`).catch(() => {});
    const [first, second] = listed.asked.map(({ headers }) => headers);
    expect(first?.traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/);
    expect(first?.['sentry-trace']).toMatch(/^0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-1$/);
    expect(first?.baggage).toBe(
      'mine=1,sentry-trace_id=0af7651916cd43dd8448eb211c80319c,sentry-release=v1,sentry-sampled=true',
    );
    expect([first?.['x-mine'], second?.['x-mine']]).toEqual(['1', '2']);
    expect(second?.traceparent).toMatch(/^00-0af7651916cd43dd/);
    const [untold] = other.asked;
    for (const name of ['traceparent', 'sentry-trace', 'baggage']) expect(untold?.headers[name]).toBeUndefined();
  });
});
