import { AsyncLocalStorage } from 'node:async_hooks';
import { Suspense, use, useId } from 'react';
import { describe, expect, it, vi } from 'vitest';
import { personal } from '../../../../src/server/pages/personal.ts';
import { revalidate } from '../../../../src/server/pages/revalidate.ts';
import type { LoaderArgs, LoaderContext } from '../../../../src/server/pages/server-page.ts';
import { Await } from '../../../../src/shared/rendering/await.tsx';
import { useData, useNonce } from '../../../../src/shared/rendering/hooks.ts';
import { forbidden, notFound, redirect } from '../../../../src/shared/routing/control-flow.ts';
import {
  CanaryError,
  createGate,
  leakIn,
  type PagesApp,
  type PagesAppOptions,
  parsePage,
  startPages,
  type TestPage,
} from '../../../support/pages-app.tsx';
import { until } from '../../../support/until.ts';

interface Visitor extends LoaderContext {
  readonly user: string;
  readonly response: { cookie(name: string, value: string): void };
}

type Args = LoaderArgs<Visitor>;

interface Data {
  readonly title: string;
  readonly user: Promise<string>;
}

function Shop() {
  const { title, user } = useData<Data>();
  return (
    <main id={useId()}>
      <h1>{title}</h1>
      <Await value={user} fallback={<i>waiting</i>}>
        {(name) => <Name of={name} />}
      </Await>
      <p id={useId()}>after</p>
    </main>
  );
}

function Name({ of }: { of: string }) {
  return <b id={useId()}>{of}</b>;
}

/** The server file of a page whose hole has this value. */
const holeOf = (load: (args: Args) => unknown) => ({
  loader: (args: Args) => ({ title: 'The shop', user: personal(args, load) }),
});
const shop = holeOf(({ context }) => context.user);

function startShell(
  server: TestPage['server'] = shop,
  rest: Partial<TestPage> = {},
  options: PagesAppOptions = {},
): Promise<PagesApp> {
  const page: TestPage = { id: 'page', path: '/page', mode: 'shell', view: Shop, server, ...rest };
  return startPages([{ id: 'root', children: [page] }], {
    createContext: ({ request, response }) => ({ user: request.headers.cookie ?? 'nobody', response }),
    ...options,
  });
}

const as = (user: string, more: Record<string, string> = {}) => ({ headers: { Cookie: user, ...more } });
/** A shell page as a document, streamed and whole, and as data, for everyone and for a visitor. */
const PATHS = ['/page', '/page?_whole=1', '/_data/page', '/_data/page?_holes='] as const;

describe('a shell page', () => {
  it('is loaded and rendered once, and each visitor gets their own hole', async () => {
    const loader = vi.fn(shop.loader);
    const Title = vi.fn(() => <h1>Once</h1>);
    const app = await startShell({ loader }, { view: () => [<Shop key="shop" />, <Title key="title" />] });
    for (const user of ['ada', 'grace', 'ada']) {
      const { text, status } = await app.ask('/page', as(user));
      expect(status).toBe(200);
      expect(text).toContain(`>${user}</b>`);
      expect(text.match(/>after<\/p>/g)).toHaveLength(1);
      expect(text.endsWith('</body></html>')).toBe(true);
      expect(text.match(/<\/body>/g)).toHaveLength(1);
    }
    expect(loader).toHaveBeenCalledTimes(1);
    expect(Title).toHaveBeenCalledTimes(1);
  });

  it('has a new nonce in each response, at every script except those that its data has brought in', async () => {
    const injected = '<script>alert(1)</script>';
    const Scripts = () => (
      <>
        <script nonce={useNonce()}>{'0'}</script>
        <div dangerouslySetInnerHTML={{ __html: injected }} />
      </>
    );
    const app = await startShell(shop, { view: () => [<Scripts key="scripts" />, <Shop key="shop" />] });
    const seen = new Set<string>();
    for (let request = 0; request < 3; request++) {
      const { text, headers } = await app.ask('/page', as('ada'));
      const [nonce = '', ...others] = new Set([...text.matchAll(/nonce="([^"]*)"/g)].map(([, found]) => found));
      expect(others).toEqual([]);
      expect(headers['content-security-policy']).toContain(`script-src 'nonce-${nonce}' 'strict-dynamic'`);
      const bare = [...text.matchAll(/<script(?![^>]*(?:nonce=|type="application\/json"))[^>]*>.*?<\/script>/g)];
      expect(bare.map(([script]) => script)).toEqual([injected]);
      expect(text).toMatch(/<script nonce="[^"]+" id="_R_">requestAnimationFrame/);
      seen.add(nonce);
    }
    expect(seen.size).toBe(3);
  });

  it('is private, has no ETag, and answers HEAD without loading a hole', async () => {
    const load = vi.fn(() => 'ada');
    const app = await startShell(holeOf(load));
    const head = await app.ask('/page', { method: 'HEAD' });
    expect([head.status, head.text, load.mock.calls.length]).toEqual([200, '', 0]);
    for (const { headers } of [head, await app.ask('/page')]) {
      expect([headers['cache-control'], headers.etag]).toEqual(['private, no-cache', undefined]);
    }
  });

  it("hydrates with the data of the shell, with its other deferred values, and with the visitor's hole", async () => {
    const loader = (args: Args) => ({
      soon: Promise.resolve('soon'),
      user: personal(args, ({ context }) => ({ name: context.user, nested: Promise.resolve('nested') })),
    });
    const view = () => <Await value={useData<{ user: Promise<{ name: string }> }>().user}>{({ name }) => name}</Await>;
    const app = await startShell({ loader }, { view });
    for (const user of ['ada', 'grace']) {
      const { payload, decoder } = parsePage((await app.ask('/page', as(user))).text);
      const data = payload.data.page as { soon: unknown; user: Promise<Record<string, unknown>> };
      const { name, nested } = await data.user;
      expect([await data.soon, name, await nested, decoder.pending]).toEqual(['soon', user, 'nested', 0]);
    }
  });

  it('is not resumed with a personal value that no component shows', async () => {
    const loader = (args: Args) => ({ title: 'The shop', user: 'x', no: personal(args, () => 7) });
    const app = await startShell({ loader });
    for (let request = 0; request < 2; request++) {
      const { text } = await app.ask('/page');
      expect(text).toMatch(/<h1>The shop<\/h1>.*<\/body><\/html>$/s);
      expect(text).not.toContain('<noscript>');
      expect(await (parsePage(text).payload.data.page as { no: unknown }).no).toBe(7);
    }
    expect(app.failures()).toEqual([]);
  });

  it('is rendered for each request if it waits for a hole outside of every boundary', async () => {
    const loader = vi.fn(shop.loader);
    const app = await startShell({ loader }, { view: () => <b>{use(useData<Data>().user)}</b> });
    for (const user of ['ada', 'grace']) expect((await app.ask('/page', as(user))).text).toContain(`<b>${user}</b>`);
    expect(loader).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['crawlers', '/page', { 'User-Agent': 'Googlebot/2.1' }],
    ['visitors without scripts', '/page?_whole=1', {}],
  ])('is complete for %s', async (_who, path, headers) => {
    const app = await startShell();
    for (const user of ['ada', 'grace']) {
      const { text } = await app.ask(path, as(user, headers));
      expect(text).toMatch(new RegExp(`<main[^>]*><h1>The shop</h1>.*<b[^>]*>${user}</b>.*</main>`, 's'));
      expect(text).not.toMatch(/waiting|<template|<noscript/);
      expect(parsePage(text).decoder.pending).toBe(0);
    }
  });
});

const fail = () => {
  throw new CanaryError();
};

describe('the shell of a page', () => {
  it('is not kept if something behind a boundary fails, and is kept when that is over', async () => {
    let isBroken = true;
    const loader = vi.fn(shop.loader);
    const Flaky = () => (isBroken ? fail() : <em>works</em>);
    const view = () => [
      <Suspense key="flaky" fallback="broken">
        <Flaky />
      </Suspense>,
      <Shop key="shop" />,
    ];
    const app = await startShell({ loader }, { view });
    expect(await app.ask('/page', as('ada'))).toMatchObject({ status: 200, text: expect.stringContaining('>ada</b>') });
    isBroken = false;
    for (let request = 0; request < 2; request++) expect((await app.ask('/page')).text).toContain('<em>works</em>');
    expect(loader).toHaveBeenCalledTimes(2);
    expect(app.failures()).toHaveLength(1);
  });

  it('is rendered again after revalidate(), in all variants, also by requests that come while it is rendered', async () => {
    const gate = createGate();
    const loader = vi.fn(async (args: Args) => {
      const title = `load ${loader.mock.calls.length}`;
      if (title === 'load 2') await gate.promise;
      return { ...shop.loader(args), title };
    });
    const app = await startShell({ loader });
    expect((await app.ask('/page')).text).toContain('load 1');
    revalidate('/page?page=2');
    const slow = app.ask('/page');
    await until(() => loader.mock.calls.length === 2, 'the second load');
    revalidate('/page');
    expect((await app.ask('/page')).text).toContain('load 3');
    gate.resolve();
    expect((await slow).text).toContain('load 2');
    expect((await app.ask('/page')).text).toContain('load 3');
  });

  it.each(['page', 'https://example.com/page', '//example.com', '/a/../b', '?page=2', ''])(
    'revalidate() refuses %j',
    (path) => {
      expect(() => revalidate(path)).toThrow(/Give it the path of a page/);
    },
  );

  it('does not know what the product keeps of the first visitor in its async context, and a hole does', async () => {
    const session = new AsyncLocalStorage<string>();
    const read = () => String(session.getStore());
    const steps: PagesAppOptions['steps'] = [(req, _res, next) => session.run(String(req.headers.cookie), next)];
    const server = { loader: (args: Args) => ({ title: read(), user: personal(args, read) }) };
    const app = await startShell(server, {}, { steps });
    const fixed = await startPages(
      [{ id: 'static', path: '/static', mode: 'static', view: Shop, server: { loader: () => ({ title: read() }) } }],
      { steps },
    );
    for (const user of ['ada', 'grace']) {
      const { text } = await app.ask('/page', as(user));
      expect(text).toContain('<h1>undefined</h1>');
      expect(text).toContain(`>${user}</b>`);
      expect((await fixed.ask('/_data/static', as(user))).text).not.toContain(user);
    }
  });
});

describe('a hole', () => {
  it.each([
    ['rejects', () => Promise.reject(new CanaryError())],
    ['throws', fail],
  ])('that %s gets its digest in its place, for this visitor only', async (_name, end) => {
    const app = await startShell(holeOf(({ context }) => (context.user === 'eve' ? end() : context.user)));
    for (const path of ['/page', '/page?_whole=1']) {
      const { status, text } = await app.ask(path, as('eve'));
      expect(status).toBe(200);
      expect(text).toContain('<h1>The shop</h1>');
      const [, digest] = /Digest: <code>([0-9A-Z]{8}-[0-9A-Z]{8})<\/code>/.exec(text) ?? [];
      expect(digest).toBeDefined();
      expect(leakIn(text)).toBeUndefined();
      await expect((parsePage(text).payload.data.page as Data).user).rejects.toMatchObject({ digest });
      expect((await app.ask(path, as('ada'))).text).toContain('>ada</b>');
    }
    expect(new Set(app.failures().map(({ digest }) => digest)).size).toBe(1);
  });

  it('that no longer fits its shell is reported, and left to the browser', async () => {
    let isChanged = false;
    const Before = () => <Shop />;
    const After = () => <Shop />;
    const app = await startShell(shop, { view: () => (isChanged ? <After /> : <Before />) });
    await app.ask('/page');
    isChanged = true;
    const { status, text } = await app.ask('/page', as('ada'));
    expect(status).toBe(200);
    expect(text).toContain('<h1>The shop</h1>');

    expect(String(app.failures()[0]?.stack)).toContain('Expected the resume to render');
  });

  it('cannot set a cookie: the headers are sent with the shell', async () => {
    const app = await startShell(holeOf(({ context }) => context.response.cookie('a', '1')));
    const { text, headers } = await app.ask('/page');
    expect(headers['set-cookie']).toBeUndefined();
    expect(text).toMatch(/"digest":"[0-9A-Z-]{17}"/);
  });

  it.each([
    ['notFound()', () => notFound(), 404, '<meta name="robots" content="noindex"/>'],
    ['redirect()', () => redirect('/other'), 303, 'http-equiv="refresh" content="0;url=/other"'],
  ])('that ends with %s does what a deferred value does', async (_name, end, whole, markup) => {
    const app = await startShell(holeOf(end));
    const streamed = await app.ask('/page');
    expect(streamed.status).toBe(200);
    expect(streamed.text).toContain('<h1>The shop</h1>');
    expect(streamed.text).toContain(markup);
    expect((await app.ask('/page?_whole=1')).status).toBe(whole);
  });
});

it('a guard of a shell page runs for each visitor before the shell is sent, and can set the status and cookies', async () => {
  const loader = vi.fn(shop.loader);
  function guard({ context }: Args) {
    if (context.user === 'nobody') redirect('/sign-in');
    if (context.user === 'eve') forbidden();
    context.response.cookie('seen', '1');
  }
  const app = await startShell({ loader, guard });
  for (const path of PATHS) {
    const isData = path.startsWith('/_data');
    const ada = await app.ask(path, as('ada'));
    expect([ada.status, ada.headers['set-cookie']]).toEqual([200, ['seen=1; Path=/']]);
    const nobody = await app.ask(path);
    expect(nobody.status).toBe(isData ? 200 : 303);
    expect(isData ? nobody.text : nobody.headers.location).toContain('/sign-in');
    const eve = await app.ask(path, as('eve'));
    expect(eve.status).toBe(403);
    expect(nobody.text + eve.text).not.toContain('The shop');
  }
  expect(loader).toHaveBeenCalledTimes(1);
});

it('the data of a shell page is the part for everyone, with an ETag and 304', async () => {
  const app = await startShell();
  const one = await app.ask('/_data/page', as('ada'));
  expect((await app.ask('/_data/page', as('grace'))).text).toBe(one.text);
  expect(one.headers['cache-control']).toBe('private, no-cache');
  const { payload, decoder } = parsePage(one.text);
  expect([payload.shell, decoder.pending, (payload.data.page as Data).title]).toEqual([true, 1, 'The shop']);
  const head = await app.ask('/_data/page', { method: 'HEAD' });
  const { etag } = one.headers;
  expect([head.status, head.text, head.headers.etag]).toEqual([200, '', etag]);
  const same = await app.ask('/_data/page', { headers: { 'If-None-Match': String(etag) } });
  expect([same.status, same.text, same.headers.etag]).toEqual([304, '', etag]);
});

it('the data of a shell page has its holes at a URL of its own, which no cache keeps, and they fit the shell', async () => {
  const app = await startShell();
  const shell = await app.ask('/_data/page');
  for (const user of ['ada', 'grace']) {
    const holes = await app.ask('/_data/page?_holes=', as(user));
    expect(holes.headers).toMatchObject({ 'cache-control': 'no-store', 'x-holes': expect.stringMatching(/^W\/"/) });
    expect(holes.headers.etag).toBeUndefined();
    const { payload, decoder } = parsePage(`${shell.text}\n${holes.text}`);
    expect(decoder.pending).toBe(0);
    expect(await (payload.data.page as Data).user).toBe(user);
  }
});

it('personal() is a deferred value on a dynamic page, and refused on a static one', async () => {
  const dynamic = await startShell(shop, { mode: 'dynamic' });
  expect((await dynamic.ask('/page', as('ada'))).text).toContain('>ada</b>');
  const fixed = await startShell(shop, { mode: 'static' });
  expect((await fixed.ask('/page', as('ada'))).status).toBe(500);
  expect(String(fixed.failures()[0]?.stack)).toContain(
    "A static page called personal(). It is rendered once for everyone, so it has no visitor. Give the route mode: 'shell'",
  );
});
