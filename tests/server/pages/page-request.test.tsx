import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import type { LoaderArgs } from '../../../src/server/pages/server-page.ts';
import { Await } from '../../../src/shared/rendering/await.tsx';
import { useData } from '../../../src/shared/rendering/hooks.ts';
import { createGate, parsePage, startPage, startPages, type TestPage } from '../../support/pages-app.tsx';
import { openSocket } from '../../support/raw-http.ts';
import { until } from '../../support/until.ts';

function Page() {
  return (
    <Await value={useData<{ late: Promise<string> }>().late} fallback={<i>waiting</i>}>
      {(value) => <b>{value}</b>}
    </Await>
  );
}

const VISITORS = [
  ['the document', '/page'],
  ['the page data', '/_data/page'],
] as const;

it.each([
  ...VISITORS.map(([name, path]) => [name, path, true] as const),
  ['a page whose loader ignores the signal', '/page', false] as const,
])('a visitor who leaves before %s is loaded stops the loader, and nothing is rendered', async (_name, path, obeys) => {
  const called = createGate<Request>();
  const aborted = createGate<unknown>();
  const view = vi.fn(() => <p>page</p>);
  async function loader({ request, signal }: LoaderArgs) {
    called.resolve(request);
    signal.addEventListener('abort', () => aborted.resolve(signal.reason));
    await (obeys ? sleep(5000, undefined, { signal }) : aborted.promise);
  }
  const app = await startPage({ view, server: { loader } });
  const asked = app.open(path);
  asked.on('error', () => {}).end();
  const { signal } = await called.promise;
  expect(signal.aborted).toBe(false);
  asked.destroy();
  expect(await aborted.promise).toMatchObject({ name: 'VisitorGone' });
  expect(signal.aborted).toBe(true);
  await until(() => app.lines.some(({ msg, gone }) => msg === 'request' && gone === true), 'the line of the request');
  await sleep(20);
  expect([view.mock.calls, app.failures()]).toEqual([[], []]);
});

it.each(VISITORS)(
  'a visitor who leaves while %s is streamed stops what is deferred, which is no failure',
  async (_name, path) => {
    const stopped = createGate<unknown>();
    const loader = ({ signal }: LoaderArgs) => ({ late: sleep(5000, 'late', { signal }).catch(stopped.resolve) });
    const app = await startPage({ view: Page, server: { loader } });
    const visit = openSocket(app.port, `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await until(() => visit.text.includes('"routes"'), 'the first part');
    visit.socket.destroy();
    expect(await stopped.promise).toMatchObject({ name: 'AbortError' });
    await until(() => app.lines.some(({ msg, gone }) => msg === 'request' && gone === true), 'the line of the request');
    expect(app.failures()).toEqual([]);
  },
);

it.each([
  ['a loader', { loader: () => null }],
  ['a loader with a version', { loader: () => null, version: () => '1' }],
  ['a guard', { guard: () => {} }],
] satisfies [string, TestPage['server']][])(
  'the arguments of a loader cannot be created if the context throws, so a page with %s fails',
  async (_name, server) => {
    const app = await startPage(
      { server },
      {
        createContext: () => Promise.reject(new Error('canary: no session store')),
      },
    );
    for (const path of ['/page', '/_data/page']) {
      const { status, text, headers } = await app.ask(path);
      expect(status).toBe(500);
      expect(text).not.toContain('canary');
      expect(headers['x-error-digest']).toMatch(/^.{8}-.{8}$/);
      expect(parsePage(text).payload.errors?.page?.digest).toBe(headers['x-error-digest']);
    }
  },
);

it('the arguments of a loader are the same for all parts of a request, and can be spread', async () => {
  const seen: LoaderArgs[] = [];
  const note = (args: LoaderArgs) => void seen.push(args, { ...args });
  const part = { guard: note, loader: note };
  const app = await startPages([{ id: 'a', server: part, children: [{ id: 'b', path: '/b/:id', server: part }] }], {
    createContext: async ({ request }) => ({ user: request.headers['x-user'] }),
  });
  await app.ask('/b/7?c=%20d', { headers: { Host: 'weir.example', 'X-User': 'ada', 'X-Two': '1, 2' } });
  expect(seen).toHaveLength(8);
  const [first] = seen;
  expect([first?.request.method, first?.request.headers.get('x-two')]).toEqual(['GET', '1, 2']);
  expect(first?.context).toMatchObject({ user: 'ada', fetch: expect.any(Function) });
  for (const { url, params, isPrefetch, ...args } of seen) {
    expect([url.href, params, isPrefetch]).toEqual(['http://weir.example/b/7?c=%20d', { id: '7' }, false]);
    expect([args.request.url, args.request === first?.request]).toEqual([url.href, true]);
    expect([args.signal === first?.signal, args.context === first?.context]).toEqual([true, true]);
  }
});

const PREFETCH = { Purpose: 'prefetch' };

describe('a prefetch', () => {
  it('is known to guards and loaders, whether a link or the browser began it', async () => {
    const seen: boolean[] = [];
    const note = ({ isPrefetch }: LoaderArgs) => void seen.push(isPrefetch);
    const server = { guard: note, loader: note };
    const app = await startPage({ server });
    const data = '/_data/page';
    await app.ask(data);
    await app.ask(data, { headers: PREFETCH });
    await app.ask('/page', { headers: { 'Sec-Purpose': 'prefetch;prerender' } });
    await app.ask('/page', { headers: { 'Sec-Purpose': 'other' } });
    expect(seen).toEqual([false, false, true, true, true, true, false, false]);
  });

  const fail = () => {
    throw new Error('no database');
  };

  it.each([
    ['a guard', { guard: () => fail() }],
    ['a loader', { loader: () => fail() }],
    ['a deferred value', { loader: () => ({ late: Promise.reject(new Error('late')) }) }],
    ['data that cannot be sent', { loader: () => ({ late: fail }) }],
  ] satisfies [string, TestPage['server']][])(
    'opens no incident if %s fails, and the click does',
    async (_, server) => {
      const app = await startPage({ view: Page, server });
      const ahead = await app.ask('/_data/page', { headers: PREFETCH });
      expect(app.failures()).toEqual([]);
      expect(ahead.headers).not.toHaveProperty('x-error-digest');
      expect(app.lines.filter(({ msg }) => String(msg).startsWith('A prefetch failed.'))).toHaveLength(1);
      const clicked = await app.ask('/_data/page');
      expect(clicked.status).toBe(ahead.status);
      expect(app.failures()).toHaveLength(1);
    },
  );

  it('opens an incident for a page that is rendered once for everyone, because others wait for it too', async () => {
    const server = { loader: () => fail() };
    const app = await startPage({ view: Page, mode: 'static', server });
    await app.ask('/_data/page', { headers: PREFETCH });
    expect(app.failures()).toHaveLength(1);
  });
});
