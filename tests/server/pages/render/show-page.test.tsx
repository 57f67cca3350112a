import { setTimeout as sleep } from 'node:timers/promises';
import { Suspense, use } from 'react';
import { Outlet } from 'react-router';
import { describe, expect, it } from 'vitest';
import { Await } from '../../../../src/shared/rendering/await.tsx';
import { useData } from '../../../../src/shared/rendering/hooks.ts';
import { parsePage, startPage, startPages, type TestPage } from '../../../support/pages-app.tsx';

function Layout() {
  return (
    <main>
      <h1>{useData<{ site: string }>().site}</h1>
      <Outlet />
    </main>
  );
}

function Orders() {
  const { rows } = useData<{ rows: readonly string[] }>();
  return (
    <>
      <title>Orders</title>
      <meta name="description" content="All orders" />
      <ul>
        {rows.map((row) => (
          <li key={row}>{row}</li>
        ))}
      </ul>
    </>
  );
}

const TABLE: readonly TestPage[] = [
  {
    id: 'root',
    view: Layout,
    styles: ['/assets/root.css'],
    server: { loader: () => ({ site: 'Weir & Co' }) },
    children: [
      {
        id: 'shop',
        children: [
          {
            id: 'orders',
            path: '/orders',
            view: Orders,
            styles: ['/assets/orders.css'],
            server: { loader: () => ({ rows: ['</script><script>alert(1)</script>', 'b'], when: new Date(7) }) },
          },
          { id: 'other', path: '/other', view: () => <p>other</p> },
        ],
      },
    ],
  },
];

const nonceOf = (policy = ''): string | undefined => /'nonce-([^']+)'/.exec(policy)?.[1];

describe('the document', () => {
  it('has a new nonce on every script, the same as in its policy', async () => {
    const app = await startPages(TABLE);
    const replies = await Promise.all([app.ask('/orders'), app.ask('/orders'), app.ask('/orders')]);
    const nonces = replies.map(({ headers }) => nonceOf(String(headers['content-security-policy'])));
    expect(new Set(nonces).size).toBe(3);
    replies.forEach(({ text }, index) => {
      const running = [...text.matchAll(/<script(?![^>]*application\/json)[^>]*>/g)].map(([tag]) => tag);
      expect(running.length).toBeGreaterThan(0);
      for (const tag of running) expect(tag).toContain(`nonce="${nonces[index]}"`);
      for (const [tag] of text.matchAll(/<link rel="modulepreload"[^>]*>/g)) {
        expect(tag).toContain(`nonce="${nonces[index]}"`);
      }
    });
  });

  it('contains the data of every matched route, escaped, before the entry script', async () => {
    const app = await startPages(TABLE);
    const { text } = await app.ask('/orders');
    const { payload } = parsePage(text);
    expect(payload.data).toEqual({
      '@frame': null,
      root: { site: 'Weir & Co' },
      shop: null,
      orders: { rows: ['</script><script>alert(1)</script>', 'b'], when: new Date(7) },
    });
    expect(payload.styles).toEqual({ root: ['/assets/root.css'], orders: ['/assets/orders.css'] });
    expect(text).not.toContain('<script>alert(1)');
    expect(text).toMatch(/<\/main>.*id="spillway-payload".*src="\/assets\/main-A1\.js"/s);
  });

  it('has title, meta and style sheets in its head, and preloads only what this page needs', async () => {
    const app = await startPages(TABLE);
    const { text } = await app.ask('/orders');
    const head = text.slice(0, text.indexOf('</head>'));
    expect(head).toMatch(
      /^<!DOCTYPE html><html lang="en"><head><meta charSet="utf-8"\/><script nonce="[^"]+">\(SETTINGS/,
    );
    expect(head).toContain('<title>Orders</title>');
    expect(head).toContain('<meta name="description" content="All orders"/>');
    const sheets = [...head.matchAll(/<link rel="stylesheet" href="([^"]+)"/g)].map(([, href]) => href);
    expect(sheets).toEqual(['/assets/root.css', '/assets/orders.css']);
    const preloads = [...head.matchAll(/<link rel="modulepreload" href="([^"]+)"/g)].map(([, href]) => href);
    expect(preloads).toEqual([
      '/assets/main-A1.js',
      '/assets/react-B2.js',
      '/assets/root-C3.js',
      '/assets/root-part-D4.js',
      '/assets/shop-C3.js',
      '/assets/shop-part-D4.js',
      '/assets/orders-C3.js',
      '/assets/orders-part-D4.js',
    ]);
  });

  it.each([
    ['/read', 'GET, HEAD, OPTIONS'],
    ['/post', 'GET, HEAD, POST, OPTIONS'],
    ['/post/within', 'GET, HEAD, POST, OPTIONS'],
    ['/nothing', 'GET, HEAD, POST, OPTIONS'],
  ])('lists the methods of %s: %s', async (path, allow) => {
    const calls: string[] = [];
    const server = { guard: () => void calls.push('guard') };
    const app = await startPages([
      { id: 'read', path: '/read', server },
      {
        id: 'post',
        path: '/post',
        server: { ...server, actions: { save: () => 1 } },
        children: [{ id: 'within', path: '/post/within' }],
      },
    ]);
    const reply = await app.ask(path, { method: 'OPTIONS' });
    expect([reply.status, reply.headers.allow, reply.text]).toEqual([204, allow, '']);
    if (path !== '/nothing') expect((await app.ask(path, { method: 'DELETE' })).headers.allow).toBe(allow);
    expect(calls).toEqual([]);
  });
});

function LateRows() {
  const { rows, never } = useData<{ rows: Promise<string[]>; never: Promise<string> | null }>();
  return (
    <>
      <Await value={rows} fallback={<i>waiting</i>}>
        {(all) => all.map((row) => <b key={row}>{row}</b>)}
      </Await>
      <Suspense fallback={<i>waiting too</i>}>
        <Plain value={never} />
      </Suspense>
    </>
  );
}

function Plain({ value }: { value: Promise<string> | null }) {
  return <em>{value && use(value)}</em>;
}

it('a query that runs when it is awaited runs once, for the document and its data', async () => {
  let runs = 0;
  const then: PromiseLike<string[]>['then'] = (...handlers) => Promise.resolve([`run ${++runs}`]).then(...handlers);
  const loader = () => ({ rows: { then }, never: null });
  const app = await startPage({ view: LateRows, server: { loader } });
  const { text } = await app.ask('/page');
  expect([runs, text.includes('<b>run 1</b>')]).toEqual([1, true]);
  const { rows } = parsePage(text).payload.data.page as { rows: Promise<string[]> };
  expect(await rows).toEqual(['run 1']);
});

const table: readonly TestPage[] = [
  {
    id: 'late',
    path: '/late',
    view: LateRows,
    server: {
      loader: () => ({
        rows: sleep(
          60,
          Array.from({ length: 300 }, (_, at) => `row ${at} `.repeat(5)),
        ),
        never: sleep(30, 'plain'),
      }),
    },
  },
];

it.each([
  ['a crawler', '/late', { 'User-Agent': 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)' }],
  ['a visitor who was redirected there', '/late?_whole=1', { 'User-Agent': 'Mozilla/5.0 Firefox/140.0' }],
])(
  'a page for clients without scripts is sent complete to %s, with nothing hidden and no further redirect',
  async (_name, path, headers) => {
    const app = await startPages(table);
    const { text, status } = await app.ask(path, { headers });
    expect(status).toBe(200);
    expect(text).toContain('<b>row 0 row 0');
    expect(text).toContain('<em>plain</em>');
    expect(text).not.toMatch(/<template|<div hidden|waiting|<noscript/);
    const { payload, decoder } = parsePage(text);
    expect(decoder.pending).toBe(0);
    expect(await (payload.data.late as { never: Promise<string> }).never).toBe('plain');
  },
);

it("a page for clients without scripts is the target of the streamed page's noscript redirect", async () => {
  const app = await startPages(table);
  const { text } = await app.ask('/late?a=1&b=%22', { headers: { 'User-Agent': 'Mozilla/5.0 Firefox/140.0' } });
  expect(text).toContain('<i>waiting</i>');
  // It is only valid in the head.
  expect(text.slice(0, text.indexOf('</head>')).match(/<noscript>.*?<\/noscript>/g)).toEqual([
    '<noscript><meta http-equiv="refresh" content="0;url=/late?a=1&amp;b=%22&amp;_whole=1"></noscript>',
  ]);
});
