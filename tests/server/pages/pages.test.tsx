import { createServer } from 'node:http';
import type { RequestHandler } from 'express';
import { expect, it } from 'vitest';
import { listenInTest } from '../../support/listen.ts';
import { startPages, type TestPage } from '../../support/pages-app.tsx';

const FOREIGN = { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' };
const PAYING = { ...FOREIGN, Origin: 'https://pay.example' };

it.each<[runs: string, headers: Record<string, string>, ...posted: string[]]>([
  [
    'nothing',
    FOREIGN,
    ...['/', '/orders', '/orders/7', '/gr%C3%B6%C3%9Fe', '/paid', '/orders?a=1', '/_data', '/_data/', '/_data/orders'],
  ],
  // The API rejects only requests with cookies.
  ['nothing', { ...FOREIGN, Cookie: 'session=1' }, '/api', '/API/echo'],
  ['theirs', FOREIGN, '/webhook', '/orders/7/lines', '/ORDERS', '/_database', '/apiary'],
  ['nothing', PAYING, '/orders'],
  ['nothing', { ...FOREIGN, Origin: 'null' }, '/paid'],
  ['ours', PAYING, '/paid'],
])('a POST from another site in front of an existing app runs %s: %o', async (runs, headers, ...posted) => {
  const acted: string[] = [];
  const server: TestPage['server'] = { actions: { default: () => void acted.push('ours') } };
  const paths = ['/', '/orders', '/orders/:id', '/größe'] as const;
  const table = [
    ...paths.map((path) => ({ id: path, path, server })),
    { id: 'paid', path: '/paid', server: { ...server, acceptPostsFrom: ['https://pay.example'] } } as const,
  ];
  const existing: RequestHandler = (_req, res) => void res.send(acted.push('theirs'));
  const app = await startPages(table, { existingApp: { app: existing } });
  for (const path of posted) {
    const { status } = await app.post(path, 'a=1', headers);
    expect([status === 403, acted.splice(0)], path).toEqual(runs === 'nothing' ? [true, []] : [false, [runs]]);
  }
});

it("pages send a trace only to the listed targets, and never the visitor's trace from a static page", async () => {
  const asked: (string | undefined)[] = [];
  const upstream = createServer((req, res) => {
    const { traceparent, baggage } = req.headers;
    asked.push(`${req.url} ${traceparent?.slice(3, 35)} ${String(baggage).replace(/-trace_id=.*/, '')}`);
    res.end();
  });
  const port = await listenInTest(upstream);
  const ask = (url: string): TestPage['server'] => ({
    loader: async ({ context }) => (await context.fetch(new Request(url, { headers: { Baggage: 'mine=1' } }))).status,
  });
  const listed = `http://127.0.0.1:${port}`;
  const table: readonly TestPage[] = [
    { id: 'page', path: '/page', server: ask(`${listed}/page`) },
    { id: 'other', path: '/other', server: ask(`http://localhost:${port}/${listed}`) },
    { id: 'kept', path: '/kept', mode: 'static', server: ask(`${listed}/kept`) },
  ];
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
  const app = await startPages(table, { traces: { targets: [listed], project: {} } });
  for (const path of ['/page', '/other', '/kept']) await app.ask(path, { headers });
  await (await startPages(table)).ask('/page', { headers });
  expect(asked).toEqual([
    `/page ${traceId} mine=1,sentry`,
    ...[`/${listed}`, '/kept', '/page'].map((path) => `${path} undefined mine=1`),
  ]);
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

it('a page for every path answers no path of the tracker, and no page data', async () => {
  const handle: RequestHandler = (_req, res) => void res.send('of the tracker');
  const app = await startPages([{ id: 'all', path: '/*' }], {
    tracker: { home: '/desk', canOpen: () => false, handle },
  });
  expect((await app.ask('/desk/a')).text).toBe('of the tracker');
  expect((await app.ask('/_data/a')).headers['content-type']).toContain('ndjson');
  expect((await app.ask('/a')).headers['content-type']).toContain('html');
});
