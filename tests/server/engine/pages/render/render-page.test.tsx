import { type ReactNode, Suspense, use } from 'react';
import { Outlet } from 'react-router';
import { describe, expect, it } from 'vitest';
import { Await } from '../../../../../src/shared/engine/rendering/await.tsx';
import { useData, usePageError } from '../../../../../src/shared/engine/rendering/hooks.ts';
import {
  forbidden,
  notFound,
  publicError,
  redirect,
  unauthorized,
} from '../../../../../src/shared/engine/routing/control-flow.ts';
import {
  CanaryError,
  leakIn,
  parseDocument,
  startPages,
  TEST_ERROR_PAGES,
  TestDocument,
  type TestPage,
} from '../../../../support/pages-app.tsx';

const OUTCOMES: readonly [string, () => never, number, string][] = [
  ['notFound()', notFound, 404, 'not-found'],
  ['forbidden()', forbidden, 403, 'forbidden'],
  ['unauthorized()', unauthorized, 401, 'unauthorized'],
  ['publicError()', () => publicError(451, 'Closed for the flood.'), 451, 'public'],
];

function Layout() {
  return (
    <main>
      <h2>Weir</h2>
      <Outlet />
      <footer>below</footer>
    </main>
  );
}

function within(page: Partial<TestPage>): readonly TestPage[] {
  return [{ id: 'root', view: Layout, children: [{ id: 'page', path: '/page', view: Outlet, ...page }] }];
}

const fail = (): never => {
  throw new CanaryError();
};
const sleep = <Value,>(ms: number, value?: Value): Promise<Value | undefined> =>
  new Promise((resolve) => setTimeout(resolve, ms, value));

function Wait({ children }: { children: (value: string) => ReactNode }) {
  return children(use(useData<{ late: Promise<string> }>().late));
}

describe('a control-flow response of a component', () => {
  it.each(OUTCOMES)(
    'in the shell: %s has its status, and shows its page within the layout',
    async (_name, end, status, kind) => {
      const app = await startPages(within({ view: () => end() }));
      const reply = await app.ask('/page');
      expect(reply.status).toBe(status);
      expect(reply.headers['cache-control']).toBe('no-store');
      expect(reply.text).toContain('<h2>Weir</h2>');
      expect(reply.text).toContain(`<section data-error="${kind}">`);
      expect(reply.text).toContain('content="noindex"');
      expect(parseDocument(reply.text).payload.errors).toMatchObject({ page: { kind, status } });
      expect(app.failures()).toEqual([]);
    },
  );

  it.each(OUTCOMES)(
    'in a boundary before anything was sent: %s still has its status',
    async (_name, end, status, kind) => {
      const Ends = (): ReactNode => end();
      const app = await startPages(
        within({
          view: () => (
            <Suspense fallback={<i>waiting</i>}>
              <Ends />
            </Suspense>
          ),
        }),
      );
      const reply = await app.ask('/page');
      expect(reply.status).toBe(status);
      expect(reply.text).toContain(`<section data-error="${kind}">`);
      expect(reply.text).not.toMatch(/waiting|<template/);
      expect(app.failures()).toEqual([]);
    },
  );

  it.each(OUTCOMES)('after the shell: %s adds noindex, and the fallback stays', async (_name, end, _status, kind) => {
    const app = await startPages(
      within({
        view: () => (
          <Suspense fallback={<i>waiting</i>}>
            <Wait>{() => end()}</Wait>
          </Suspense>
        ),
        server: { loader: () => ({ late: sleep(40, 'late') }) },
      }),
    );
    const { status, text } = await app.ask('/page');
    expect(status).toBe(200);
    expect(text).toContain('<i>waiting</i>');
    expect(text.match(/<meta name="robots" content="noindex">/g)).toHaveLength(1);
    expect(text).toContain(`"${kind}"`);
    expect(text.endsWith('</body></html>')).toBe(true);
    expect(app.failures()).toEqual([]);
  });

  it('redirect() in the shell, or in a boundary before anything was sent, is an HTTP redirect', async () => {
    const Ends = (): ReactNode => redirect('/elsewhere?a=1&b=2');
    for (const view of [
      Ends,
      () => (
        <Suspense fallback="waiting">
          <Ends />
        </Suspense>
      ),
    ]) {
      const app = await startPages(within({ view }));
      const reply = await app.ask('/page');
      expect([reply.status, reply.headers.location, reply.text]).toEqual([303, '/elsewhere?a=1&b=2', '']);
    }
  });

  it('redirect() after the shell makes the browser redirect, with the URL escaped', async () => {
    const app = await startPages(
      within({
        view: () => (
          <Suspense fallback={<i>waiting</i>}>
            <Wait>{() => redirect('/elsewhere?a="><script>&b=2')}</Wait>
          </Suspense>
        ),
        server: { loader: () => ({ late: sleep(40, 'late') }) },
      }),
    );
    const { status, text } = await app.ask('/page');
    expect(status).toBe(200);
    const goes = [...text.matchAll(/<meta http-equiv="refresh" content="([^"]*)">(?!<\/noscript>)/g)].map(
      ([, to]) => to,
    );
    expect(goes).toHaveLength(1);
    expect(goes[0]).toMatch(/^0;url=\/elsewhere\?a=[^<>]*&amp;b=2$/);
    expect(text).not.toContain('<script>&');
  });

  it('is sent to a crawler with its status, even if it is deferred', async () => {
    const app = await startPages(
      within({
        view: () => (
          <Suspense fallback="waiting">
            <Wait>{() => notFound()}</Wait>
          </Suspense>
        ),
        server: { loader: () => ({ late: sleep(30, 'late') }) },
      }),
    );
    const reply = await app.ask('/page', { headers: { 'User-Agent': 'Googlebot/2.1' } });
    expect(reply.status).toBe(404);
    expect(reply.text).toContain('<section data-error="not-found">');
  });
});

describe('a deferred value that ends with a control-flow response before anything was sent', () => {
  const CRAWLER = { headers: { 'User-Agent': 'Googlebot/2.1' } };
  function Awaits() {
    return (
      <Await value={useData<{ late: Promise<string> }>().late} fallback={<i>waiting</i>}>
        {(value) => <b>{value}</b>}
      </Await>
    );
  }
  const endingBy = (end: () => unknown): TestPage['server'] => ({ loader: () => ({ late: sleep(20).then(end) }) });

  it.each(OUTCOMES.filter(([name]) => name !== 'publicError()'))(
    'has the status and the page of %s, if the response waits for everything',
    async (_name, end, status, kind) => {
      const app = await startPages(within({ view: Awaits, server: endingBy(end) }));
      const crawler = await app.ask('/page', CRAWLER);
      const scriptless = await app.ask('/page?_whole=1');
      for (const reply of [crawler, scriptless]) {
        expect(reply.status).toBe(status);
        expect(reply.headers['cache-control']).toBe('no-store');
        expect(reply.text).toContain('<h2>Weir</h2>');
        expect(reply.text).toContain(`<section data-error="${kind}">`);
        expect(parseDocument(reply.text).payload.errors).toEqual({ page: { kind, status } });
      }
      expect(app.failures()).toEqual([]);
    },
  );

  it('has its status in a streamed page whose shell is not ready', async () => {
    const Slow = (): ReactNode => use(useData<{ slow: Promise<string> }>().slow);
    const SlowShell = (): ReactNode => [<Awaits key="late" />, <Slow key="slow" />];
    const loader = () => ({ late: sleep(20).then(() => notFound()), slow: sleep(80, 'slow') });
    const app = await startPages(within({ view: SlowShell, server: { loader } }));
    expect((await app.ask('/page')).status).toBe(404);
  });

  it('redirects if it is a redirect', async () => {
    const app = await startPages(within({ view: Awaits, server: endingBy(() => redirect('/elsewhere?a=1&b=2')) }));
    for (const reply of [await app.ask('/page', CRAWLER), await app.ask('/page?_whole=1')]) {
      expect([reply.status, reply.headers.location, reply.text]).toEqual([303, '/elsewhere?a=1&b=2', '']);
    }
  });

  it('in a layout replaces that layout', async () => {
    const [root] = within({ view: () => <p>page</p> });
    const app = await startPages([
      {
        id: 'outer',
        view: Layout,
        children: [{ ...root, id: 'root', view: Awaits, server: endingBy(() => forbidden()) }],
      },
    ]);
    const { status, text } = await app.ask('/page', CRAWLER);
    expect(status).toBe(403);
    expect(text).toContain('<h2>Weir</h2>');
    expect(parseDocument(text).payload.errors).toEqual({ root: { kind: 'forbidden', status: 403 } });
  });

  it.each([
    ['a failure', fail, 'Digest: <code>'],
    ['publicError()', () => publicError(451, 'Closed for the flood.'), 'Closed for the flood.'],
  ])('keeps the page for %s, which replaces only its own place', async (_name, end, words) => {
    const app = await startPages(within({ view: Awaits, server: endingBy(end) }));
    const { status, text } = await app.ask('/page', CRAWLER);
    expect(status).toBe(200);
    expect(text).toContain('<footer>below</footer>');
    expect(text).toContain(words);
  });
});

describe('a rejected deferred value', () => {
  function LatePage() {
    const { late, other } = useData<{ late: Promise<string>; other: Promise<string> }>();
    return (
      <>
        <Await value={late} fallback={<i>waiting</i>}>
          {(value) => <b>{value}</b>}
        </Await>
        <Await value={other} fallback={<i>other</i>}>
          {(value) => <em>{value}</em>}
        </Await>
      </>
    );
  }
  const lateOf = (end: () => unknown): TestPage['server'] => ({
    loader: () => ({ late: sleep(40).then(end), other: sleep(60, 'stands') }),
  });

  it('by a failure replaces only its own place, with a digest', async () => {
    const app = await startPages(within({ view: LatePage, server: lateOf(fail) }));
    const { status, text, headers } = await app.ask('/page');
    expect(status).toBe(200);
    expect(text).toContain('<em>stands</em>');
    expect(text).toContain('<footer>below</footer>');
    const digest = /Digest: <code>(.{17})<\/code>/.exec(text)?.[1];
    expect(digest).toMatch(/^.{8}-.{8}$/);
    expect(text).toContain('role="alert"');
    const { payload } = parseDocument(text);
    await expect((payload.data.page as { late: Promise<string> }).late).rejects.toMatchObject({
      pageError: { kind: 'failure', status: 500, digest },
    });
    expect(app.failures()).toHaveLength(1);
    expect(app.failures()[0]).toMatchObject({ origin: 'late', digest: digest?.slice(0, 8) });
    expect(leakIn(text + JSON.stringify(headers))).toBeUndefined();
    expect(text).not.toContain('content="noindex"');
  });

  it.each(OUTCOMES)('by %s shows it in its place', async (_name, end, status, kind) => {
    const app = await startPages(within({ view: LatePage, server: lateOf(end) }));
    const { text } = await app.ask('/page');
    expect(text).toContain('<em>stands</em>');
    expect(text).toContain('role="alert"');
    expect(text.includes('<meta name="robots" content="noindex"/>')).toBe(kind !== 'public');
    if (kind === 'public') expect(text).toContain('Closed for the flood.');
    const { payload } = parseDocument(text);
    await expect((payload.data.page as { late: Promise<string> }).late).rejects.toMatchObject({
      pageError: { kind, status },
    });
    expect(app.failures()).toEqual([]);
  });

  it('by redirect() makes the browser redirect', async () => {
    const app = await startPages(within({ view: LatePage, server: lateOf(() => redirect('/elsewhere?a=1&b=2')) }));
    const { text } = await app.ask('/page');
    expect(text).toContain('<meta http-equiv="refresh" content="0;url=/elsewhere?a=1&amp;b=2"/>');
    expect(app.failures()).toEqual([]);
  });

  it.each([
    ['an object that imitates a page error', { kind: 'public', status: 418, message: 'canary' }],
    ['an error that imitates one', Object.assign(new Error('canary'), { kind: 'public', status: 418 })],
    ['an object that imitates a redirect', { kind: 'redirect', status: 303, location: 'https://evil.example/canary' }],
    [
      'a hostile proxy',
      new Proxy(
        {},
        {
          has: () => {
            throw new CanaryError();
          },
          get: (_, key) => {
            if (key === 'then') return undefined;
            throw new CanaryError();
          },
        },
      ),
    ],
    ['an error with toJSON', Object.assign(new Error('canary'), { toJSON: () => 'canary', toString: () => 'canary' })],
  ])('as %s reveals nothing of it', async (_name, thrown) => {
    const app = await startPages(within({ view: LatePage, server: lateOf(() => Promise.reject(thrown)) }));
    const { status, text } = await app.ask('/page');
    expect(status).toBe(200);
    expect(leakIn(text)).toBeUndefined();
    expect(text).not.toContain('evil.example');
    expect(text).toContain('<em>stands</em>');
    expect(/Digest: <code>(.{17})<\/code>/.exec(text)?.[1]).toMatch(/^.{8}-.{8}$/);
    expect(app.failures()).toHaveLength(1);
  });

  it('used three times is one incident', async () => {
    const shared = new CanaryError();
    const Three = (): ReactNode => {
      const { all } = useData<{ all: Promise<string>[] }>();
      return all.map((value, index) => (
        <Await key={index} value={value}>
          {(text) => text}
        </Await>
      ));
    };
    const app = await startPages(
      within({
        view: Three,
        server: { loader: () => ({ all: [10, 20, 30].map((ms) => sleep(ms).then(() => Promise.reject(shared))) }) },
      }),
    );
    const { text } = await app.ask('/page');
    const digests = [...text.matchAll(/Digest: <code>(.{17})<\/code>/g)].map(([, digest]) => digest);
    expect(digests).toHaveLength(3);
    expect(new Set(digests).size).toBe(1);
    expect(app.failures()).toHaveLength(1);
  });

  it('and a value that its component cannot render also affect only their own place', async () => {
    const Breaks = (): ReactNode => {
      const { late } = useData<{ late: Promise<string> }>();
      return (
        <Await value={late} fallback={<i>waiting</i>}>
          {() => fail()}
        </Await>
      );
    };
    const app = await startPages(within({ view: Breaks, server: { loader: () => ({ late: sleep(30, 'x') }) } }));
    const { status, text } = await app.ask('/page');
    expect(status).toBe(200);
    expect(text).toContain('<footer>below</footer>');
    expect(text).toContain(`"${app.failures()[0]?.digest}-${app.failures()[0]?.occurrence}"`);
    expect(leakIn(text)).toBeUndefined();
    expect(app.failures()).toHaveLength(1);
  });
});

describe('a component that fails', () => {
  it('in the shell replaces its route and keeps the layout around it', async () => {
    const app = await startPages(within({ view: fail }));
    const { status, headers, text } = await app.ask('/page', { headers: { Host: 'weir.example' } });
    expect(status).toBe(500);
    expect(text).toContain('<h2>Weir</h2>');
    expect(text).toContain('<footer>below</footer>');
    expect(text).toContain(
      '<h1>Application error: a client-side exception has occurred while loading the host weir.example</h1>',
    );
    const digest = headers['x-error-digest'];
    expect(text).toContain(`<code>${digest}</code>`);
    expect(parseDocument(text).payload.errors).toEqual({ page: { kind: 'failure', status: 500, digest } });
    expect(leakIn(text + JSON.stringify(headers))).toBeUndefined();
    expect(app.failures()).toHaveLength(1);
    expect(app.failures()[0]).toMatchObject({ origin: 'render' });
  });

  it('in a layout, outside its page, replaces the layout', async () => {
    const app = await startPages([
      {
        id: 'root',
        view: Layout,
        children: [
          {
            id: 'inner',
            view: () => {
              const Broken = (): ReactNode => fail();
              return (
                <div>
                  <Outlet />
                  <Broken />
                </div>
              );
            },
            children: [{ id: 'page', path: '/page', view: () => <p>fine</p> }],
          },
        ],
      },
    ]);
    const { status, text } = await app.ask('/page');
    expect(status).toBe(500);
    expect(text).toContain('<h2>Weir</h2>');
    expect(Object.keys(parseDocument(text).payload.errors ?? {})).toEqual(['inner']);
  });

  it('in a boundary keeps the page and shows only its digest', async () => {
    const Broken = (): ReactNode => fail();
    const app = await startPages(
      within({
        view: () => (
          <Suspense fallback={<i>waiting</i>}>
            <Broken />
          </Suspense>
        ),
      }),
    );
    const { status, text } = await app.ask('/page');
    expect(status).toBe(200);
    const [line] = app.failures();
    expect(text).toContain(`data-dgst="${line?.digest}-${line?.occurrence}"`);
    expect(leakIn(text)).toBeUndefined();
    expect(app.failures()).toHaveLength(1);
  });

  it("is shown by the route's error boundary, if it has one", async () => {
    const ErrorBoundary = (): ReactNode => {
      const { kind, digest } = usePageError();
      return <aside>{`${kind} ${digest}`}</aside>;
    };
    for (const page of [{ view: fail }, { server: { loader: fail } }]) {
      const app = await startPages(within({ ...page, ErrorBoundary }));
      const { text, headers } = await app.ask('/page');
      expect(text).toContain(`<aside>failure ${headers['x-error-digest']}</aside>`);
      expect(text).toContain('<h2>Weir</h2>');
      expect(app.failures()).toHaveLength(1);
    }
  });

  it('in an error page leads to the next outer boundary', async () => {
    const app = await startPages([
      {
        id: 'root',
        view: Layout,
        ErrorBoundary: () => <aside>the outer one</aside>,
        children: [{ id: 'page', path: '/page', view: fail, ErrorBoundary: fail }],
      },
    ]);
    const { status, headers, text } = await app.ask('/page');
    expect(status).toBe(500);
    expect(text).toContain('<aside>the outer one</aside>');
    expect(text).not.toContain('<h2>Weir</h2>');
    expect(headers['x-error-digest']).toMatch(/^.{8}-.{8}$/);
    expect(leakIn(text)).toBeUndefined();
  });

  it.each([
    ['every error page', { errorPages: { ...TEST_ERROR_PAGES, failure: fail } }],
    ['the document', { document: fail }],
    [
      'the document, as a page error in disguise',
      {
        document: () => {
          throw { kind: 'public', status: 418, message: 'canary' };
        },
      },
    ],
  ])('in %s leads to the built-in error page', async (_name, options) => {
    const app = await startPages(within({ view: fail }), options);
    const { status, headers, text } = await app.ask('/page', { headers: { Host: 'weir.example' } });
    expect(status).toBe(500);
    expect(text).toContain(
      'Application error: a client-side exception has occurred while loading the host weir.example',
    );
    expect(text).not.toContain('<script');
    expect(text).toContain(`<code>${headers['x-error-digest']}</code>`);
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(leakIn(text + JSON.stringify(headers))).toBeUndefined();
    const addresses = app.failures().map(({ digest, occurrence }) => `${digest}-${occurrence}`);
    expect(addresses).toContain(headers['x-error-digest']);
  });

  it("keeps the product's document if only a page failed", async () => {
    const app = await startPages(within({ view: fail }), {
      document: (props) => <TestDocument {...props} lang="de" />,
    });
    expect((await app.ask('/page')).text).toMatch(/^<!DOCTYPE html><html lang="de">/);
  });
});

describe('the deadline', () => {
  const never = new Promise<never>(() => {});
  function Hang(): ReactNode {
    return use(never);
  }

  it('ends a shell that is never ready, with a failure', async () => {
    const app = await startPages(within({ view: Hang }), { deadlineMs: 80 });
    const { status, headers, text } = await app.ask('/page');
    expect(status).toBe(500);
    expect(text).toContain('<h2>Weir</h2>');
    expect(text).toContain(`<code>${headers['x-error-digest']}</code>`);
    expect(app.failures()).toHaveLength(1);
    expect(String(app.failures()[0]?.stack)).toContain('PageTimeout');
    expect(leakIn(text)).toBeUndefined();
  });

  it('ends a stream that never ends, and the work behind it', async () => {
    let stopped = false;
    const app = await startPages(
      within({
        view: () => (
          <Await value={useData<{ late: Promise<string> }>().late} fallback={<i>waiting</i>}>
            {(value) => <b>{value}</b>}
          </Await>
        ),
        server: {
          loader: ({ signal }) => ({
            late: new Promise((_resolve, reject) => {
              signal.addEventListener('abort', () => {
                stopped = true;
                reject(signal.reason);
              });
            }),
          }),
        },
      }),
      { deadlineMs: 80 },
    );
    const { status, text } = await app.ask('/page');
    expect(status).toBe(200);
    expect(text).toContain('<i>waiting</i>');
    expect(text.endsWith('</body></html>')).toBe(true);
    expect(stopped).toBe(true);
    expect(app.failures()).toHaveLength(1);
    expect(leakIn(text)).toBeUndefined();
  });

  it('ends a page with a deferred value that no component awaits', async () => {
    const app = await startPages(within({ view: Layout, server: { loader: () => ({ late: never }) } }), {
      deadlineMs: 80,
    });
    const { status, text } = await app.ask('/page');
    expect(status).toBe(200);
    expect(text.endsWith('</body></html>')).toBe(true);
    const { payload, decoder } = parseDocument(text);
    expect(decoder.pending).toBe(0);
    await expect((payload.data.page as { late: Promise<never> }).late).rejects.toMatchObject({
      digest: `${app.failures()[0]?.digest}-${app.failures()[0]?.occurrence}`,
    });
    expect(String(app.failures()[0]?.stack)).toMatch(/^PageTimeout/);
  });

  it('ends with the page, so that nothing is recorded later', async () => {
    const app = await startPages(within({ view: () => <p>quick</p> }), { deadlineMs: 50 });
    await app.ask('/page');
    await sleep(80);
    expect(app.failures()).toEqual([]);
  });
});
