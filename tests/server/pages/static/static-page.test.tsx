import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestHandler } from 'express';
import { useLocation } from 'react-router';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { revalidate } from '../../../../src/server/pages/revalidate.ts';
import type { LoaderArgs, LoaderContext } from '../../../../src/server/pages/server-page.ts';
import { Await } from '../../../../src/shared/rendering/await.tsx';
import { useData, useHost } from '../../../../src/shared/rendering/hooks.ts';
import { notFound, redirect } from '../../../../src/shared/routing/control-flow.ts';
import { CanaryError, leakIn, parsePage, startPages, type TestPage } from '../../../support/pages-app.tsx';
import { askRaw } from '../../../support/raw-http.ts';

const pass: RequestHandler = (_req, _res, next) => next();

function Say() {
  return <p>{JSON.stringify(useData())}</p>;
}

function staticPage(server: TestPage['server'], rest: Partial<TestPage> = {}): readonly TestPage[] {
  return [{ id: 'root', children: [{ id: 'page', path: '/page', mode: 'static', view: Say, server, ...rest }] }];
}

const readHeader = ({ request }: LoaderArgs) => request.headers.get('cookie');
const readUser = ({ context }: LoaderArgs<LoaderContext & { readonly user: string }>) => context.user;

describe('a static page', () => {
  it('is rendered once for all simultaneous requests', async () => {
    const loader = vi.fn(() => sleep(20, 'data'));
    const view = vi.fn(Say);
    const app = await startPages(staticPage({ loader }, { view }));
    const replies = await Promise.all(
      Array.from({ length: 30 }, (_, index) => app.ask(index % 3 === 0 ? '/_data/page' : `/page?visitor=${index}`)),
    );
    expect(replies.every(({ status }) => status === 200)).toBe(true);
    expect([loader, view].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
    expect(new Set(replies.map(({ text }) => text)).size).toBe(2);
  });

  const text = 'words '.repeat(400);

  it.each([
    ['HEAD', '/page', {}],
    ['GET', '/page', { 'Accept-Encoding': 'br' }],
    ['HEAD', '/_data/page', {}],
    ['GET', '/_data/page', { 'Accept-Encoding': 'br', 'If-None-Match': '*' }],
    ['GET', '/_data/page', { 'Accept-Encoding': 'br' }],
  ])('gets %s %s with %j answered alike with and without steps of the product', async (method, path, headers) => {
    const answers = await Promise.all(
      [[], [pass]].map(async (steps) => {
        const app = await startPages(staticPage({ loader: () => text }), { steps, compression: true });
        await app.ask('/page');
        const reply = await app.ask(path, { method, headers });
        const { date: _date, 'x-request-id': _id, ...rest } = reply.headers;
        return { ...reply, headers: rest, chunks: [], route: app.lines.at(-1)?.route };
      }),
    );
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[0]?.route).toBe('/page');
  });

  it('is refused by a step of the product, although it is in memory', async () => {
    let isOpen = true;
    const step: RequestHandler = (_req, res, next) => (isOpen ? next() : void res.status(403).end());
    const app = await startPages(staticPage({ loader: () => 'same' }), { steps: [step] });
    expect((await app.ask('/page')).status).toBe(200);
    isOpen = false;
    expect((await app.ask('/page')).status).toBe(403);
  });

  it('is private with a cookie that a step sets, also as late as sessions do', async () => {
    const early: RequestHandler = (_req, res, next) => next(void res.cookie('a', '1'));
    const late: RequestHandler = (_req, res, next) => {
      const { writeHead } = res;
      res.writeHead = (...args: unknown[]) => Reflect.apply(writeHead, res.cookie('a', '1'), args);
      next();
    };
    for (const [step, caching] of [
      [pass, 'public, no-cache'],
      [early, 'private, no-cache'],
      [late, 'private, no-cache'],
    ] as const) {
      const app = await startPages(staticPage({ loader: () => text }), { steps: [step], compression: true });
      for (const path of ['/page', '/page', '/_data/page']) {
        const headers = { 'Accept-Encoding': 'br' };
        expect((await app.ask(path, { headers })).headers['cache-control']).toBe(caching);
      }
    }
  });

  it.each<[TestPage['mode'], () => void, number]>([
    ['static', notFound, 404],
    ['static', () => redirect('/', { status: 301 }), 301],
    ['shell', notFound, 404],
    ['shell', () => redirect('/', { status: 301 }), 301],
  ])('as %s: once the page is gone, its loader decides the answer: %s', async (mode, leave, status) => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    let isGone = false;
    const loader = () => (isGone ? leave() : 'here');
    const app = await startPages(staticPage({ loader }, { mode }));
    expect((await app.ask('/page')).status).toBe(200);
    isGone = true;
    vi.advanceTimersByTime(301_000);
    expect((await app.ask('/page')).status).toBe(200);
    await expect.poll(async () => (await app.ask('/page')).status).toBe(status);
    isGone = false;
    expect((await app.ask('/page')).status).toBe(200);
  });

  it.each<TestPage['mode']>(['static', 'shell'])(
    'as %s: after revalidate(), the old one is sent while a new one fails',
    async (mode) => {
      let load: () => unknown = () => 'old text';
      const app = await startPages(staticPage({ loader: () => load() }, { mode }));
      await app.ask('/page');
      load = fail;
      for (const path of ['/page', '/_data/page']) {
        revalidate('/page');
        for (let request = 0; request < 2; request++) {
          const { status, text } = await app.ask(path);
          expect([status, text]).toEqual([200, expect.stringContaining('old text')]);
        }
      }
      expect(app.failures()).toHaveLength(2);
      load = () => 'new text';
      revalidate('/page');
      expect((await app.ask('/page')).text).toContain('new text');
      for (const [answer, status] of [
        [notFound, 404],
        [() => redirect('/', { status: 301 }), 301],
      ] as const) {
        revalidate('/page');
        load = answer;
        expect((await app.ask('/page')).status).toBe(status);
        load = () => 'new text';
        expect((await app.ask('/page')).status).toBe(200);
      }
    },
  );

  it('has the same bytes for everyone: no nonce, no trace, an ETag, a policy with the hashes of its two scripts', async () => {
    const app = await startPages(staticPage({ loader: () => 'same' }));
    const first = await app.ask('/page', { headers: { 'User-Agent': 'Googlebot/2.1' } });
    const second = await app.ask('/page', { headers: { Cookie: 'a=1' } });
    expect(second.text).toBe(first.text);
    expect(first.headers['cache-control']).toBe('public, no-cache');
    expect(first.headers.etag).toMatch(/^"[\w-]+"$/);
    expect(first.headers['x-accel-buffering']).toBeUndefined();
    expect(second.headers['content-security-policy']).toBe(first.headers['content-security-policy']);
    expect(first.text).not.toMatch(/nonce=|<noscript|<meta name="(?:sentry-trace|baggage)"/);
    const running = [...first.text.matchAll(/<script>(.*?)<\/script>/gs)].map(([, body = '']) => body);
    expect(running).toHaveLength(2);
    const hashes = running.map((body) => `'sha256-${createHash('sha256').update(body).digest('base64')}'`);
    expect(first.headers['content-security-policy']).toContain(`script-src ${hashes.join(' ')} 'strict-dynamic'`);
    expect(first.text).toContain('<script type="application/json" id="spillway-boot">["/assets/main-A1.js"]</script>');
    expect(parsePage(first.text).payload.static).toBe(true);
  });

  it.each([
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['identity', undefined],
  ])('has a strong ETag for each encoding, and one ETag for its data: %s', async (accepted, encoding) => {
    const app = await startPages(staticPage({ loader: () => text }), { compression: true });
    const plain = await app.ask('/page');
    const headers = { 'Accept-Encoding': accepted };
    for (const path of ['/page', '/_data/page']) {
      const whole = await app.ask(path, { headers });
      expect(whole.headers['content-encoding']).toBe(encoding);
      expect(whole.text).toContain(text);
      const { etag, vary } = whole.headers;
      const strong = encoding ? new RegExp(`^"[\\w-]+-${encoding}"$`) : /^"[\w-]+"$/;
      expect([etag, vary]).toEqual([expect.stringMatching(path === '/page' ? strong : /^W\/"/), 'Accept-Encoding']);
      const same = await app.ask(path, { headers: { ...headers, 'If-None-Match': String(etag) } });
      expect([same.status, same.headers.etag, same.headers.vary]).toEqual([304, etag, vary]);
      const head = await askRaw(app.port, `HEAD ${path} HTTP/1.1`, ['Host: localhost', `Accept-Encoding: ${accepted}`]);
      expect(head.headers).toMatchObject({ etag, 'content-length': whole.headers['content-length'] });
      expect(head.headers['content-encoding']).toBe(encoding);
      if (path !== '/page') continue;
      // The ETag of another encoding does not match these bytes.
      const other = encoding === undefined ? '"x-br"' : String(plain.headers.etag);
      const anew = await app.ask(path, { headers: { ...headers, 'If-None-Match': other } });
      expect([anew.status, anew.headers.etag]).toEqual([200, etag]);
    }
  });

  it.each(['dynamic', 'static', 'shell'] as const)(
    "has React's script for forms whose action is a function only if it can run, in mode %s",
    async (mode) => {
      const view = () => <form action={() => undefined} />;
      const app = await startPages(staticPage(undefined, { view, mode }));
      const [first, again] = [await app.ask('/page'), await app.ask('/page')];
      for (const { text } of [first, again]) {
        const scripts = text.match(/<script[^>]*>addEventListener\("submit"/g) ?? [];
        expect(scripts).toEqual(mode === 'dynamic' ? [expect.stringContaining(' nonce="')] : []);
        expect(text.endsWith('</body></html>')).toBe(true);
      }
    },
  );

  it("keeps the product's own inline script about forms", async () => {
    const __html = '<script>addEventListener("submit",count)</script>';
    const view = () => <div dangerouslySetInnerHTML={{ __html }} />;
    const { text } = await (await startPages(staticPage(undefined, { view }))).ask('/page');
    expect(text).toContain(__html);
  });

  it('receives only the query parameters that it lists, in a fixed order', async () => {
    let loads = 0;
    const app = await startPages(
      staticPage(
        { loader: ({ request }) => [++loads, new URL(request.url).search] },
        {
          searchKeys: ['page', 'by'],
          view: () => (
            <p>
              {useLocation().search}|{JSON.stringify(useData())}
            </p>
          ),
        },
      ),
    );
    const first = await app.ask('/page?utm=x&page=2&by=n%20m');
    const second = await app.ask('/page?by=n+m&page=2&utm=y&session=z');
    expect(second.text).toBe(first.text);
    expect(first.text).toContain('[1,&quot;?by=n+m&amp;page=2&quot;]');
    expect(first.text).not.toMatch(/utm|session/);
    expect((await app.ask('/page?page=3')).text).toContain('[2,');
    expect((await app.ask('/page')).text).toContain('[3,');
  });

  const isForAll = '. It is rendered once for everyone, so it has no visitor. ';
  it.each<[TestPage['mode'], string, NonNullable<TestPage['server']>['loader'], words: string]>([
    ['static', 'a header', readHeader, `A static page read request.headers${isForAll}`],
    ['static', 'the context', readUser, `A static page read context.user${isForAll}`],
    ['shell', 'a header', readHeader, `The shell of a page read request.headers${isForAll}Read it in a personal value`],
    ['shell', 'the context', readUser, `The shell of a page read context.user${isForAll}Read it in a personal value`],
  ])('as %s cannot read %s', async (mode, _name, loader, words) => {
    const createContext = () => ({ user: 'ada lovelace' });
    const app = await startPages(staticPage({ loader }, { mode }), { createContext });
    for (const path of ['/page', '/page', '/page?_whole=1', '/_data/page', '/_data/page?_holes=']) {
      const { status, headers, text } = await app.ask(path, { headers: { Cookie: 'user=ada lovelace' } });
      expect([status, headers['cache-control'], headers.etag]).toEqual([500, 'no-store', undefined]);
      expect(text).not.toContain('ada lovelace');
    }
    expect(String(app.failures()[0]?.stack)).toContain(words);
  });
});

const saysHost: Partial<TestPage> = { view: () => <p>{useHost()}</p> };

it('the host in a static page is an error that says what to do if no origin, or several, are configured', async () => {
  const publicOrigins = ['https://weir.example', 'https://www.weir.example'];
  const bare = await startPages(staticPage(undefined, saysHost));
  expect((await bare.ask('/page')).status).toBe(500);
  const app = await startPages(staticPage(undefined, saysHost), { publicOrigins });
  const { status, headers, text } = await app.ask('/page', { headers: { Host: 'www.weir.example' } });
  expect([status, headers['cache-control']]).toEqual([500, 'no-store']);
  expect(text).not.toContain('www.weir.example');
  expect(String(app.failures()[0]?.stack)).toMatch(/A static page read useHost\(\)\..* Set PUBLIC_ORIGINS/);
});

const fail = () => {
  throw new CanaryError();
};
const hang = () => new Promise<never>(() => {});
const deferred = (load: () => unknown): Partial<TestPage> => ({
  server: { loader: () => ({ late: sleep(10).then(load) }) },
  view: () => <Await value={useData<{ late: Promise<string> }>().late}>{(value) => <p>{value}</p>}</Await>,
});

it.each<[string, number, (isBroken: () => boolean) => Partial<TestPage>]>([
  ['a failing loader', 500, (isBroken) => ({ server: { loader: () => isBroken() && fail() } })],
  ['a failing component', 500, (isBroken) => ({ view: () => (isBroken() ? fail() : <p>healed</p>) })],
  ['a control-flow response', 404, (isBroken) => ({ server: { loader: () => isBroken() && notFound() } })],
  ['a loader that never returns', 500, (isBroken) => ({ server: { loader: () => isBroken() && hang() } })],
  ['a deferred value that never settles', 200, (isBroken) => deferred(() => (isBroken() ? hang() : 'healed'))],
  ['notFound() from a deferred value', 404, (isBroken) => deferred(() => (isBroken() ? notFound() : 'healed'))],
])('a static page that fails with %s is not cached, and has status %i', async (_name, status, toPage) => {
  let isBroken = true;
  const page = toPage(() => isBroken);
  const app = await startPages(staticPage(page.server, { view: () => <p>healed</p>, ...page }), { deadlineMs: 1000 });
  for (const path of ['/page', '/_data/page']) {
    const reply = await app.ask(path);
    expect(reply.status).toBe(status);
    expect(reply.headers['cache-control']).not.toContain('public');
    expect(reply.headers.etag).toBeUndefined();
    expect(leakIn(reply.text)).toBeUndefined();
  }
  isBroken = false;
  const { text, headers } = await app.ask('/page');
  expect(text).toContain('<p>healed</p>');
  expect(headers).toMatchObject({ 'cache-control': 'public, no-cache', etag: expect.any(String) });
  expect(parsePage(text).decoder.pending).toBe(0);
});
