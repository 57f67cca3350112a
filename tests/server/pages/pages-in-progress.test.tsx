import { once } from 'node:events';
import type { RequestHandler } from 'express';
import { expect, it, vi } from 'vitest';
import { createRenderLimiter } from '../../../src/server/front/render-limiter.ts';
import { publicError } from '../../../src/shared/routing/control-flow.ts';
import {
  createGate,
  type PagesApp,
  type PagesAppOptions,
  startPage,
  startPages,
  type TestPage,
} from '../../support/pages-app.tsx';
import { openSocket } from '../../support/raw-http.ts';
import { until } from '../../support/until.ts';

/** A table of pages that records which parts start. */
function createTable(begun: string[]): TestPage[] {
  const note = (what: string, value?: string) => () => {
    begun.push(what);
    return value;
  };
  const view = () => {
    begun.push('view');
    return <p>page</p>;
  };
  const loader = note('loader', 'data');
  return [
    { id: 'page', path: '/page', view, server: { guard: note('guard') as () => undefined, loader } },
    { id: 'versioned', path: '/versioned', view, server: { loader, version: () => String(note('version')()) } },
    { id: 'static', path: '/static', mode: 'static', view, server: { loader } },
    { id: 'form', path: '/form', view, server: { actions: { default: note('action') } } },
  ];
}

const REQUESTS = [
  ['GET of a page', 'GET', '/page'],
  ['GET of page data', 'GET', '/_data/page'],
  ['HEAD of page data with a version', 'HEAD', '/_data/versioned'],
  ['GET of a static page', 'GET', '/static'],
  ['a posted form', 'POST', '/form'],
  ['the 404 page', 'GET', '/nothing'],
  ['an error page', 'GET', '/error'],
  ['the API', 'GET', '/api/echo'],
] as const;

function write(method: string, path: string) {
  const form = 'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 3\r\n\r\na=b';
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nCookie: who=x\r\n${method === 'POST' ? form : '\r\n'}`;
}

it.each(REQUESTS)(
  'a client that left during a product step causes no work for %s, and does not count',
  async (_what, method, path) => {
    const begun: string[] = [];
    const limiter = createRenderLimiter();
    const waiting = { begun: 0, ended: 0 };
    // Like for a session store. It ends when the client has left.
    const wait: RequestHandler = async (_req, res, next) => {
      waiting.begun += 1;
      await once(res, 'close');
      waiting.ended += 1;
      next();
    };
    const note: RequestHandler = (req, _res, next) => {
      if (req.path !== '/page') begun.push('step');
      if (req.path === '/error') publicError(409, 'This does not fit.');
      next();
    };
    const app = await startPages(createTable(begun), { limiter, steps: [wait, note] });
    const visits = [1, 2, 3].map(() => openSocket(app.port, write(method, path)));
    await until(() => waiting.begun === 3, 'the requests');
    for (const { socket } of visits) socket.destroy();
    await until(() => waiting.ended === 3 && countLines(app) === 3, 'the ends of the requests');
    // Work that starts by mistake does so in the following event-loop iterations.
    await app.ask('/livez');
    expect(limiter.pages).toBe(0);
    expect(begun).toEqual([]);
    expect(app.failures()).toEqual([]);
  },
);

function countLines(app: PagesApp) {
  return app.lines.filter(({ msg }) => msg === 'request').length;
}

const never = (): Promise<never> => new Promise(() => {});

/** Set by an action that takes longer than the deadline. */
let acted = false;
async function actTooLong(): Promise<{ done: boolean }> {
  acted = true;
  await new Promise((resolve) => setTimeout(resolve, 120));
  return { done: true };
}

it.each<[string, TestPage['server'], PagesAppOptions?, isPosted?: boolean]>([
  ['a guard', { guard: never }],
  ['a loader', { loader: never }],
  ['a version', { loader: () => 1, version: never }],
  ['the context', { loader: () => 1 }, { createContext: never }],
  [
    'the context of an action',
    { actions: { default: never }, openActions: ['default'] },
    { createContext: never },
    true,
  ],
  [
    'a guard after an action that took too long',
    { guard: () => (acted ? never() : undefined), openActions: ['default'], actions: { default: actTooLong } },
    {},
    true,
  ],
])(
  'work that never settles in %s gets a response, and then no longer counts',
  async (_name, server, options, isPosted) => {
    const limiter = createRenderLimiter();
    const enter = vi.spyOn(limiter, 'enter');
    acted = false;
    const app = await startPage({ server }, { limiter, deadlineMs: 60, ...options });
    const replies = isPosted
      ? [await app.post('/page', 'a=b')]
      : [await app.ask('/page'), await app.ask('/page', { method: 'HEAD' }), await app.ask('/_data/page')];
    for (const { status } of replies) expect(status).toBeGreaterThan(199);
    expect(enter.mock.calls.length).toBeGreaterThanOrEqual(replies.length); // again for the page after an action
    expect(limiter.pages).toBe(0);
  },
);

it('counts a page from its first guard to its shell, and not while the rest is streamed', async () => {
  const limiter = createRenderLimiter();
  const shell = createGate();
  const late = createGate<string>();
  const loader = async () => {
    await shell.promise;
    return { late: late.promise };
  };
  const app = await startPage({ server: { loader } }, { limiter });
  const asked = app.ask('/page', { onText: () => seen.resolve() });
  const seen = createGate();
  await until(() => limiter.pages === 1, 'the page to start');
  shell.resolve();
  await seen.promise;
  expect(limiter.pages).toBe(0);
  late.resolve('late');
  expect((await asked).status).toBe(200);
  expect(limiter.pages).toBe(0);
});

it('counts the render of a static page until it ends, even if everyone waiting for it has left', async () => {
  const limiter = createRenderLimiter();
  const loaded = createGate();
  const loader = vi.fn(() => loaded.promise);
  const table: TestPage[] = [{ id: 'item', path: '/items/:id', mode: 'static', server: { loader } }];
  const app = await startPages(table, { limiter });
  const visits = [1, 2, 3].map((item) => openSocket(app.port, write('GET', `/items/${item}`)));
  await until(() => loader.mock.calls.length === 3, 'the loaders');
  for (const { socket } of visits) socket.destroy();
  await until(() => countLines(app) === 3, 'the ends of the requests');
  expect(limiter.pages).toBe(3);
  loaded.resolve();
  await until(() => limiter.pages === 0, 'the ends of the renders');
});
