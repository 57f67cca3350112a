import { setTimeout as sleep } from 'node:timers/promises';
import { type ReactNode, Suspense, use } from 'react';
import { Outlet } from 'react-router';
import { describe, expect, it } from 'vitest';
import { Await } from '../../../src/shared/rendering/await.tsx';
import { useData, usePageError } from '../../../src/shared/rendering/hooks.ts';
import { forbidden, notFound, publicError, redirect, unauthorized } from '../../../src/shared/routing/control-flow.ts';
import {
  CanaryError,
  leakIn,
  type PagesApp,
  type PagesAppOptions,
  parsePage,
  startPages,
  TEST_ERROR_PAGES,
  type TestPage,
} from '../../support/pages-app.tsx';

const OUTCOMES: readonly [string, () => never, number, string][] = [
  ['notFound()', notFound, 404, 'not-found'],
  ['forbidden()', forbidden, 403, 'forbidden'],
  ['unauthorized()', unauthorized, 401, 'unauthorized'],
  ['publicError()', () => publicError(503, 'Closed for the flood.'), 503, 'public'],
];
const DATA_PATH = '/_data/page';
const PATHS = ['/page', DATA_PATH];
const CRAWLER = { headers: { 'User-Agent': 'Googlebot/2.1' } };
const ADDRESS = /[0-9A-HJKMNP-TV-Z]{8}-[0-9A-HJKMNP-TV-Z]{8}/;

const fail = (): never => {
  throw new CanaryError();
};
const never = new Promise<never>(() => {});
const hang = () => never;

interface Late {
  readonly late: Promise<string>;
}

function Layout() {
  return (
    <main>
      <h2>{useData<{ site: string } | null>()?.site}</h2>
      <Outlet />
      <footer>below</footer>
    </main>
  );
}

/** A layout with data around a section around a page. */
function within(page: Partial<TestPage>, section: TestPage['server'] = {}): readonly TestPage[] {
  const view = () => <p>shown</p>;
  return [
    {
      id: 'root',
      view: Layout,
      server: { loader: () => ({ site: 'Weir' }) },
      children: [{ id: 'section', server: section, children: [{ id: 'page', path: '/page', view, ...page }] }],
    },
  ];
}

const start = (page: Partial<TestPage>, options?: PagesAppOptions) => startPages(within(page), options);

const inSuspense = (Inner: () => ReactNode) => () => (
  <Suspense fallback={<i>waiting</i>}>
    <Inner />
  </Suspense>
);

/** A page whose component ends after the shell was sent. */
const afterShell = (end: () => never): Partial<TestPage> => ({
  view: inSuspense(() => use(useData<Late>().late) && end()),
  server: { loader: () => ({ late: sleep(40, 'late') }) },
});

/** A page with a deferred value that ends. */
const deferred = (end: () => unknown): Partial<TestPage> => ({
  view: () => (
    <Await value={useData<Late>().late} fallback={<i>waiting</i>}>
      {(value) => <b>{value}</b>}
    </Await>
  ),
  server: { loader: () => ({ late: sleep(20).then(end) }) },
});

const PARTS: readonly [string, string, (end: () => never) => Partial<TestPage>][] = [
  ['a guard', 'guard', (end) => ({ server: { guard: () => sleep(5).then(end) } })],
  ['a loader', 'loader', (end) => ({ server: { loader: () => end() } })],
  ['a component', 'render', (end) => ({ view: end })],
  ['a component in a boundary, before anything was sent', 'render', (end) => ({ view: inSuspense(end) })],
];

/** The address of the only failure. */
function addressOf(app: PagesApp) {
  const [failure, ...more] = app.failures();
  expect(more).toEqual([]);
  return `${failure?.digest}-${failure?.occurrence}`;
}

describe.each(PARTS)('a control-flow response in %s', (_part, origin, toPage) => {
  it.each(OUTCOMES)(
    '%s has its status, also as data, and its page within the layout',
    async (_name, end, status, kind) => {
      const app = await start(toPage(end));
      const reply = await app.ask('/page');
      expect([reply.status, reply.headers['cache-control']]).toEqual([status, 'no-store']);
      expect(reply.headers['retry-after']).toBe(status === 503 ? '5' : undefined);
      expect(reply.headers['x-error-digest']).toBeUndefined();
      expect(reply.text).toContain('<h2>Weir</h2>');
      expect(reply.text).toContain(`<section data-error="${kind}">`);
      expect(reply.text).toContain('content="noindex"');
      expect(reply.text).not.toMatch(/shown|waiting|<template/);
      expect(parsePage(reply.text).payload.errors).toMatchObject({ page: { kind, status } });
      if (origin !== 'render') {
        const data = await app.ask(DATA_PATH);
        expect([data.status, data.headers['cache-control'], data.headers.etag]).toEqual([
          status,
          'no-store',
          undefined,
        ]);
        expect(parsePage(data.text).payload.errors).toMatchObject({ page: { kind, status } });
      }
      expect(app.failures()).toEqual([]);
    },
  );

  it('redirect() redirects before anything is sent', async () => {
    const app = await start(toPage(() => redirect('/other?a=1&b=2', { status: 307 })));
    const reply = await app.ask('/page');
    expect([reply.status, reply.headers.location, reply.text]).toEqual([307, '/other?a=1&b=2', '']);
    expect(reply.headers['cache-control']).toBe('no-store');
  });
});

it.each(OUTCOMES)(
  'a control-flow response of a component after the shell %s adds noindex, and the fallback stays',
  async (_name, end, _status, kind) => {
    const app = await start(afterShell(end));
    const { status, text } = await app.ask('/page');
    expect(status).toBe(200);
    expect(text).toContain('<i>waiting</i>');
    expect(text.match(/<meta name="robots" content="noindex">/g)).toHaveLength(1);
    expect(text).toContain(`"${kind}"`);
    expect(text.endsWith('</body></html>')).toBe(true);
    expect(app.failures()).toEqual([]);
  },
);

it('a control-flow response of a component after the shell redirect() makes the browser redirect, with the URL escaped', async () => {
  const app = await start(afterShell(() => redirect('/elsewhere?a="><script>&b=2')));
  const { text } = await app.ask('/page');
  const targets = text.matchAll(/<meta http-equiv="refresh" content="([^"]*)">(?!<\/noscript>)/g);
  expect([...targets].map(([, to]) => to)).toEqual([expect.stringMatching(/^0;url=\/elsewhere\?a=[^<>]*&amp;b=2$/)]);
  expect(text).not.toContain('<script>&');
});

describe('a deferred value that ends with a control-flow response', () => {
  it.each(OUTCOMES.filter(([, , , kind]) => kind !== 'public'))(
    '%s has its status and page if the response waits for everything',
    async (_name, end, status, kind) => {
      const app = await start(deferred(end));
      for (const reply of [await app.ask('/page', CRAWLER), await app.ask('/page?_whole=1')]) {
        expect([reply.status, reply.headers['cache-control']]).toEqual([status, 'no-store']);
        expect(reply.text).toContain('<h2>Weir</h2>');
        expect(reply.text).toContain(`<section data-error="${kind}">`);
        expect(parsePage(reply.text).payload.errors).toEqual({ page: { kind, status } });
      }
      expect(app.failures()).toEqual([]);
    },
  );

  it.each(OUTCOMES)('%s is shown in its place otherwise', async (_name, end, status, kind) => {
    const app = await start(deferred(end));
    const { text } = await app.ask('/page');
    expect(text).toContain('<footer>below</footer>');
    expect(text).toContain('role="alert"');
    expect(text.includes('<meta name="robots" content="noindex"/>')).toBe(kind !== 'public');
    expect(text.includes('Closed for the flood.')).toBe(kind === 'public');
    const data = parsePage(text).payload.data.page as Late;
    await expect(data.late).rejects.toMatchObject({ pageError: { kind, status } });
    expect(app.failures()).toEqual([]);
  });

  it('redirects, or makes the browser redirect after the shell', async () => {
    const app = await start(deferred(() => redirect('/elsewhere?a=1&b=2')));
    for (const reply of [await app.ask('/page', CRAWLER), await app.ask('/page?_whole=1')]) {
      expect([reply.status, reply.headers.location, reply.text]).toEqual([303, '/elsewhere?a=1&b=2', '']);
    }
    const { text } = await app.ask('/page');
    expect(text).toContain('<meta http-equiv="refresh" content="0;url=/elsewhere?a=1&amp;b=2"/>');
    expect(app.failures()).toEqual([]);
  });
});

it('runs guards outermost first, before every loader, and nothing after one that stops', async () => {
  const calls: string[] = [];
  const note = (what: string) => (): void => void calls.push(what);
  const guard = () => sleep(20, calls.push('guard b')).then(() => forbidden());
  const c: TestPage = { id: 'c', path: '/c', server: { guard: note('guard c'), loader: note('load c') } };
  const b: TestPage = { id: 'b', server: { guard, loader: note('load b') }, children: [c] };
  const server = { guard: note('guard a'), loader: note('load a') };
  const app = await startPages([{ id: 'a', server, children: [b] }]);
  expect((await app.ask('/c')).status).toBe(403);
  expect(calls).toEqual(['guard a', 'guard b', 'load a']);
});

it('runs the loaders of all routes concurrently', async () => {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const meet = (own: number) => () => {
    gates[own]?.resolve();
    return gates[1 - own]?.promise;
  };
  const app = await startPages(within({ server: { loader: meet(0) } }, { loader: meet(1) }));
  expect((await app.ask('/page')).status).toBe(200);
});

describe('a failure', () => {
  it.each(PARTS.slice(0, 3))(
    'in %s replaces only its route, and shows only its digest',
    async (_part, origin, toPage) => {
      const app = await start(toPage(fail));
      const { status, headers, text } = await app.ask('/page', { headers: { Host: 'weir.example' } });
      expect(status).toBe(500);
      expect(text).toContain('<h2>Weir</h2>');
      expect(text).toContain('<footer>below</footer>');
      expect(text).toContain(
        '<h1>Application error: a client-side exception has occurred while loading the host weir.example</h1>',
      );
      const digest = addressOf(app);
      expect(digest).toMatch(ADDRESS);
      expect(headers['x-error-digest']).toBe(digest);
      expect(text).toContain(`<code>${digest}</code>`);
      expect(parsePage(text).payload.errors).toEqual({ page: { kind: 'failure', status: 500, digest } });
      expect(leakIn(text, headers)).toBeUndefined();
      expect(app.failures()[0]).toMatchObject({ origin, stack: expect.stringContaining('canary-9f2e') });
      expect(app.lines.find((line) => line.msg === 'request')?.digest).toBe(digest);
    },
  );

  it('in a layout replaces everything inside it, where further failures are only recorded', async () => {
    const app = await startPages(within({ server: { loader: fail } }, { loader: fail }));
    for (const path of PATHS) {
      const { text } = await app.ask(path);
      expect(Object.keys(parsePage(text).payload.errors ?? {})).toEqual(['section']);
      expect(text).not.toContain('shown');
    }
    expect(app.failures().map(({ routeId }) => routeId)).toEqual(['section', 'page', 'section', 'page']);
  });

  it('of a layout’s component, outside its page, replaces the layout', async () => {
    const Broken = () => fail();
    const view = () => [<Outlet key="page" />, <Broken key="broken" />];
    const page: TestPage = { id: 'page', path: '/page', view: () => <p>fine</p> };
    const app = await startPages([{ id: 'root', view: Layout, children: [{ id: 'inner', view, children: [page] }] }]);
    const { status, text } = await app.ask('/page');
    expect(status).toBe(500);
    expect(text).toContain('<footer>below</footer>');
    expect(Object.keys(parsePage(text).payload.errors ?? {})).toEqual(['inner']);
  });

  it.each([
    ['a component in a boundary', { view: inSuspense(fail) }],
    ['a component after the shell', afterShell(fail)],
    ['a deferred value', deferred(fail)],
    [
      'a component that shows a deferred value',
      { ...deferred(() => 1), view: () => <Await value={useData<Late>().late}>{fail}</Await> },
    ],
  ] satisfies [string, Partial<TestPage>][])(
    'of %s keeps the page, with a digest in its place',
    async (_name, page) => {
      const app = await start(page);
      const { status, headers, text } = await app.ask('/page');
      expect(status).toBe(200);
      expect(text).toContain('<footer>below</footer>');
      expect(text).toContain(addressOf(app));
      expect(leakIn(text, headers)).toBeUndefined();
      expect(text).not.toContain('content="noindex"');
    },
  );

  const hostile = () =>
    new Proxy(new CanaryError(), {
      has: fail,
      get: (_, key) => (key === 'then' ? undefined : fail()),
    });
  it.each([
    ['undefined', undefined],
    ['an error that cannot be read', hostile()],
    ['an object that imitates a page error', { kind: 'public', status: 418, message: 'canary' }],
    ['an object that imitates a redirect', { kind: 'redirect', status: 303, location: 'https://evil.example/canary' }],
    ['an error with toJSON', Object.assign(new Error('canary'), { toJSON: () => 'canary', toString: () => 'canary' })],
    ['an error with a status', Object.assign(new Error('canary'), { status: 404, statusCode: 404, kind: 'public' })],
    ['a response', new Response('canary', { status: 200, headers: { 'X-Canary': 'canary' } })],
  ])('reveals nothing if it is thrown as %s, by a loader or a deferred value', async (_name, thrown) => {
    const loader = () => {
      throw thrown;
    };
    const late = deferred(() => Promise.reject(thrown));
    const app = await startPages([...within({ server: { loader } }), { id: 'late', path: '/late', ...late }]);
    for (const path of ['/page', DATA_PATH, '/late']) {
      const { status, headers, text } = await app.ask(path);
      expect([status, headers.location]).toEqual([path === '/late' ? 200 : 500, undefined]);
      expect(text).toMatch(ADDRESS);
      expect(leakIn(text, headers)).toBeUndefined();
      expect(text).not.toContain('evil.example');
    }
    expect(app.failures().length).toBeGreaterThan(0); // the same object is one failure
  });

  it('of a promise does not end the process while another loader is running', async () => {
    const unhandled: unknown[] = [];
    const listen = (reason: unknown) => void unhandled.push(reason);
    process.on('unhandledRejection', listen);
    const loader = () => ({ deep: [new Map([['late', Promise.reject(new CanaryError())]])] });
    const app = await startPages(within({ server: { loader: () => sleep(60, 'slow') } }, { loader }));
    const { status, text } = await app.ask('/page');
    process.off('unhandledRejection', listen);
    expect(status).toBe(200);
    expect(parsePage(text).deferred).toHaveLength(1);
    expect(leakIn(text)).toBeUndefined();
    expect(unhandled).toEqual([]);
  });
});

describe('error pages', () => {
  it("are the route's own if it has one", async () => {
    const ErrorBoundary = () => {
      const { kind, digest } = usePageError();
      return <aside>{`${kind} ${digest}`}</aside>;
    };
    for (const page of [{ view: fail }, { server: { loader: fail } }]) {
      const app = await start({ ...page, ErrorBoundary });
      const { text } = await app.ask('/page');
      expect(text).toContain(`<h2>Weir</h2><aside>failure ${addressOf(app)}</aside>`);
    }
  });

  it('that fail lead to the next outer one', async () => {
    const page: TestPage = { id: 'page', path: '/page', view: fail, ErrorBoundary: fail };
    const ErrorBoundary = () => <aside>the outer one</aside>;
    const app = await startPages([{ id: 'root', view: Layout, ErrorBoundary, children: [page] }]);
    const { status, headers, text } = await app.ask('/page');
    expect(status).toBe(500);
    expect(text).toContain('<aside>the outer one</aside>');
    expect(text).not.toContain('<footer>');
    expect(headers['x-error-digest']).toMatch(ADDRESS);
    expect(leakIn(text)).toBeUndefined();
  });

  const disguised = () => {
    throw { kind: 'public', status: 418, message: 'canary' };
  };
  it.each([
    ['all of them fail', { errorPages: { ...TEST_ERROR_PAGES, failure: fail } }],
    ['the document fails', { document: fail }],
    ['the document throws a page error in disguise', { document: disguised }],
  ])('are the built-in one if %s', async (_name, options) => {
    const app = await start({ view: fail }, options);
    const { status, headers, text } = await app.ask('/page', { headers: { Host: 'weir.example' } });
    expect([status, headers['cache-control']]).toEqual([500, 'no-store']);
    expect(text).toContain(
      'Application error: a client-side exception has occurred while loading the host weir.example',
    );
    expect(text).not.toContain('<script');
    expect(text).toContain(`<code>${headers['x-error-digest']}</code>`);
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(leakIn(text, headers)).toBeUndefined();
    const addresses = app.failures().map(({ digest, occurrence }) => `${digest}-${occurrence}`);
    expect(addresses).toContain(headers['x-error-digest']);
  });
});

class Canary {
  readonly secret = 'canary-secret';
}

it.each([
  ['a function', () => ({ canary: () => 1 }), 'data.page.canary is a function'],
  ['an instance of a class in a Map', () => new Map([['canary', new Canary()]]), 'is an instance of Canary'],
])(
  'data that cannot be encoded because of %s is a failure of its loader, and does not affect other routes',
  async (_name, loader, words) => {
    for (const path of PATHS) {
      const fine = () => ({ late: Promise.resolve('late') });
      const app = await startPages(within({ server: { loader } }, { loader: fine }));
      const { status, headers, text } = await app.ask(path);
      const digest = addressOf(app);
      expect([status, headers['cache-control'], headers['x-error-digest']]).toEqual([500, 'no-store', digest]);
      const { data, errors } = parsePage(text).payload;
      expect(errors).toEqual({ page: { kind: 'failure', status: 500, digest } });
      expect(Object.keys(data)).toEqual(['@frame', 'root', 'section']);
      expect(await (data.section as Late).late).toBe('late');
      expect(leakIn(text, headers)).toBeUndefined();
      // Without frames, the digest is that of the route and the words. With them, all such failures would have one.
      expect(app.failures()).toMatchObject([{ origin: 'loader', routeId: 'page' }]);
      const stack = String(app.failures()[0]?.stack).split('\n    at ');
      expect(stack).toEqual([expect.stringMatching(`^WireError.*${words}`)]);
    }
  },
);

it.each(PATHS)(
  'data that cannot be encoded because of a deferred value affects only its own place in %s',
  async (path) => {
    const app = await start({ server: { loader: () => ({ late: Promise.resolve(new Canary()) }) } });
    const { status, headers, text } = await app.ask(path);
    expect([status, headers['x-error-digest']]).toEqual([200, undefined]);
    await expect((parsePage(text).payload.data.page as Late).late).rejects.toMatchObject({
      pageError: { kind: 'failure', status: 500, digest: addressOf(app) },
    });
    expect(leakIn(text)).toBeUndefined();
    expect(String(app.failures()[0]?.stack)).toContain('data.page.late is an instance of Canary');
  },
);

describe('the deadline', () => {
  it.each([
    ['a guard', { server: { guard: hang } }, 'guard'],
    ['a loader', { server: { loader: hang } }, 'loader'],
    ['a shell', { view: () => use(never) }, 'render'],
  ])('ends %s that is never ready as a failure of its route', async (_part, page, origin) => {
    for (const path of origin === 'render' ? ['/page'] : PATHS) {
      const app = await start(page, { deadlineMs: 60 });
      const { status, headers, text } = await app.ask(path);
      const digest = addressOf(app);
      expect([status, headers['cache-control'], headers['x-error-digest']]).toEqual([500, 'no-store', digest]);
      expect(parsePage(text).payload).toMatchObject({ data: { root: { site: 'Weir' } }, errors: { page: { digest } } });
      const stack = expect.stringMatching(/^PageTimeout: The page was not complete after 60 ms/);
      expect(app.failures()).toMatchObject([{ origin, stack }]);
      expect(leakIn(text, headers)).toBeUndefined();
    }
  });

  it("aborts the loader's signal, and counts one failure together with what the loader throws", async () => {
    const reasons: unknown[] = [];
    const loader: NonNullable<TestPage['server']>['loader'] = ({ signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reasons.push(signal.reason);
          reject(new Error('stopped', { cause: signal.reason }));
        });
      });
    const app = await start({ server: { loader } }, { deadlineMs: 50 });
    expect((await app.ask('/page')).status).toBe(500);
    expect(reasons).toMatchObject([{ name: 'PageTimeout' }]);
    expect(app.failures()).toHaveLength(1);
  });

  it.each([
    ['awaits', deferred(hang)],
    ['does not await', { server: { loader: () => ({ late: never }) } }],
  ] satisfies [string, Partial<TestPage>][])('ends a stream whose page %s its deferred value', async (_name, page) => {
    const app = await start(page, { deadlineMs: 1000 });
    const { status, text } = await app.ask('/page');
    expect(status).toBe(200);
    expect(text.endsWith('</body></html>')).toBe(true);
    const { payload, decoder } = parsePage(text);
    expect(decoder.pending).toBe(0);
    await expect((payload.data.page as Late).late).rejects.toMatchObject({ digest: addressOf(app) });
    expect(String(app.failures()[0]?.stack)).toMatch(/^PageTimeout/);
    expect(leakIn(text)).toBeUndefined();
  });
});
