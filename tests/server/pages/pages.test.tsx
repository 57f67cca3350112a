import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { listenInTest } from '../../support/listen.ts';
import { startPages, type TestPage } from '../../support/pages-app.tsx';

/** Pages in front of an existing app. `acted` lists what was posted to which of them. */
async function startBefore() {
  const acted: string[] = [];
  const actions = { default: () => void acted.push('ours') };
  const table: readonly TestPage[] = [
    {
      id: 'root',
      children: [
        { id: 'home', path: '/', server: { actions } },
        { id: 'orders', path: '/orders', server: { actions } },
        { id: 'order', path: '/orders/:id', server: { actions } },
        { id: 'size', path: '/größe', server: { actions } },
        {
          id: 'paid',
          path: '/paid',
          server: { actions, acceptPostsFrom: ['https://pay.example'] },
        },
      ],
    },
  ];
  const app = await startPages(table, {
    existingApp: {
      app: (req, res) => {
        acted.push(`theirs ${req.url}`);
        res.send('theirs');
      },
    },
  });
  const post = (path: string, headers: Record<string, string>) => app.post(path, 'a=1', headers);
  return { post, acted };
}

const FOREIGN = { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' };

describe('in front of an existing app, a POST from another site', () => {
  it.each([
    ...['/', '/orders', '/orders/7', '/gr%C3%B6%C3%9Fe', '/paid', '/orders?a=1'],
    ...['/_data', '/_data/', '/_data/orders', '/api', '/API/echo'],
  ])('to %s, which is Spillway’s, is rejected', async (path) => {
    const { post, acted } = await startBefore();
    // The API rejects only requests with cookies.
    const headers = { ...FOREIGN, ...(/^\/api/i.test(path) && { Cookie: 'session=1' }) };
    expect((await post(path, headers)).status).toBe(403);
    expect(acted).toEqual([]);
  });

  it.each(['/webhook', '/orders/7/lines', '/ORDERS', '/_database', '/apiary'])(
    'to %s, which is not a page, reaches the existing app',
    async (path) => {
      const { post, acted } = await startBefore();
      const reply = await post(path, FOREIGN);
      expect([reply.status, reply.text]).toEqual([200, 'theirs']);
      expect(acted).toEqual([`theirs ${path}`]);
    },
  );

  it('reaches only a page that accepts posts from that origin', async () => {
    const { post, acted } = await startBefore();
    const paying = { ...FOREIGN, Origin: 'https://pay.example' };
    expect((await post('/orders', paying)).status).toBe(403);
    expect((await post('/paid', { ...FOREIGN, Origin: 'null' })).status).toBe(403);
    expect(acted).toEqual([]);
    expect((await post('/paid', paying)).status).toBe(303);
    expect(acted).toEqual(['ours']);
  });
});

it("pages send a trace only to the listed targets, and never the visitor's trace from a static page", async () => {
  const asked: (string | undefined)[] = [];
  const upstream = createServer((req, res) => {
    const { traceparent, baggage } = req.headers;
    asked.push(`${req.url} ${traceparent?.slice(3, 35)} ${String(baggage).replace(/-trace_id=.*/, '')}`);
    res.end();
  });
  const port = await listenInTest(upstream);
  const ask = (path: string): TestPage['server'] => ({
    loader: async ({ context }) => {
      const request = new Request(`http://127.0.0.1:${port}${path}`, { headers: { Baggage: 'mine=1' } });
      return (await context.fetch(request)).status;
    },
  });
  const table: readonly TestPage[] = [
    { id: 'page', path: '/page', server: ask('/page') },
    { id: 'kept', path: '/kept', mode: 'static', server: ask('/kept') },
  ];
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
  const app = await startPages(table, { traceTargets: [`http://127.0.0.1:${port}`] });
  for (const path of ['/page', '/kept']) await app.ask(path, { headers });
  const untold = await startPages(table);
  await untold.ask('/page', { headers });
  expect(asked).toEqual([`/page ${traceId} mine=1,sentry`, '/kept undefined mine=1', '/page undefined mine=1']);
});

it('secret pages cannot be cached, but their data can still be answered with 304', async () => {
  const app = await startPages([{ id: 'home', path: '/' }], { isSecret: true });
  const document = await app.ask('/');
  expect(document.headers['cache-control']).toBe('no-store');
  const { headers } = await app.ask('/_data/');
  expect(headers['cache-control']).toBe('no-store');
  const again = await app.ask('/_data/', { headers: { 'If-None-Match': headers.etag ?? '' } });
  expect(again.status).toBe(304);
});
