import { afterEach, describe, expect, it, vi } from 'vitest';
import type { PageDataResult } from '../../../src/client/page-data/fetch-page-data.ts';
import { createPageDataStore, type PageDataStoreOptions } from '../../../src/client/page-data/store.ts';
import { toShownError } from '../../../src/shared/rendering/page-error.ts';
import type { PagePayload } from '../../../src/shared/wire/payload.ts';
import { createBody } from './create-body.ts';

const WIRE = { 'Content-Type': 'application/x-ndjson', 'X-Build-Id': 'b1' };

function makePage(url: string): PagePayload {
  return {
    build: 'b1',
    routes: ['home'],
    params: {},
    data: { home: url },
    styles: {},
    ...(url.includes('/static') && { static: true }),
  };
}

interface Call {
  readonly method: string;
  readonly url: string;
  readonly isPrefetch: boolean;
  /** The failure that the request names. */
  readonly retryOf: string | null;
  readonly signal: AbortSignal;
  answer(body?: BodyInit | null, init?: ResponseInit): void;
}

/** A store whose requests the test answers. */
function createTestStore(options: Partial<PageDataStoreOptions> = {}) {
  const calls: Call[] = [];
  const clock = { ms: 0 };
  vi.spyOn(performance, 'now').mockImplementation(() => clock.ms);
  vi.stubGlobal(
    'fetch',
    (input: RequestInfo | URL, init: RequestInit = {}) =>
      new Promise<Response>((resolve, reject) => {
        const { method = 'GET', signal } = init;
        const url = String(input);
        signal?.addEventListener('abort', () => reject(signal.reason));
        calls.push({
          method,
          url,
          isPrefetch: new Headers(init.headers).get('Purpose') === 'prefetch',
          retryOf: new Headers(init.headers).get('X-Retry-Of'),
          signal: signal as AbortSignal,
          answer: (body = `${JSON.stringify({ d: makePage(url) })}\n`, answer = { headers: WIRE }) =>
            resolve(new Response(body, answer)),
        });
      }),
  );
  const store = createPageDataStore({
    base: '',
    build: 'b1',
    isServerRendered: () => false,
    onPage: () => {},
    onRefused: () => {},
    ...options,
  });
  return { store, calls, clock };
}

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

const flush = () => new Promise((resolve) => setTimeout(resolve, 0));

const DEFERRED = '{"d":{"build":"b1","routes":[],"data":{"home":0}},"p":[["promise",0,"data","home"]]}';

/** Prefetches a page and sends the response. */
async function prefetched(url: string) {
  const test = createTestStore();
  test.store.prefetch(url, 'intent');
  test.calls[0]?.answer();
  await flush();
  return test;
}

describe('a prefetch', () => {
  it('of a dynamic page serves one navigation', async () => {
    const { store, calls } = await prefetched('/a');
    expect(await store.load('/a')).toMatchObject({ kind: 'page' });
    expect(calls).toHaveLength(1);
    const second = store.load('/a');
    calls[1]?.answer();
    await second;
    expect(calls.map((call) => call.isPrefetch)).toEqual([true, false]);
  });

  it('of a dynamic page is stale after 30 s', async () => {
    const { store, calls, clock } = await prefetched('/a');
    clock.ms = 30_000;
    void store.load('/a');
    expect(calls).toHaveLength(2);
  });

  it('of a static page serves for 300 s', async () => {
    const { store, calls, clock } = await prefetched('/static');
    await store.load('/static');
    clock.ms = 299_999;
    await store.load('/static');
    store.prefetch('/static', 'intent');
    expect(calls).toHaveLength(1);
    clock.ms = 300_000;
    void store.load('/static');
    expect(calls).toHaveLength(2);
  });

  it.each([
    ['refuses', 'busy', { status: 503 }],
    ['fails', undefined, { status: 500, headers: WIRE }],
  ] as const)('that the server %s is sent again by the navigation that joined it', async (_, body, init) => {
    const { store, calls } = createTestStore({ isServerRendered: () => true });
    store.prefetch('/a', 'intent');
    const loaded = store.load('/a');
    calls[0]?.answer(body, init);
    await flush();
    calls[1]?.answer();
    expect(await loaded).toMatchObject({ kind: 'page', status: 200 });
    expect(calls.map((call) => call.isPrefetch)).toEqual([true, false]);
  });

  it('that failed is named by the navigation, and by the request of its holes, so that one click is one failure', async () => {
    const { store, calls } = createTestStore();
    const digest = '7K3QM2XA-9F4W0R6B';
    const errors = { home: { kind: 'failure', status: 500, digest } };
    const failed = JSON.stringify({ d: { ...makePage('/shop'), errors } });
    store.prefetch('/shop', 'intent');
    calls[0]?.answer(failed, { status: 500, headers: WIRE });
    await flush();
    const loaded = store.loadShell('/shop');
    calls[2]?.answer(failed, { status: 500, headers: WIRE });
    await loaded;
    void store.load('/shop');
    expect(calls.map(({ retryOf }) => retryOf)).toEqual([null, digest, digest, null]);
  });

  it('continues to stream for the navigation that uses it', async () => {
    const { store, calls } = createTestStore();
    const aborter = new AbortController();
    const { body, write, end } = createBody();
    store.prefetch('/a', 'intent', aborter.signal);
    write(`${DEFERRED}\n`);
    calls[0]?.answer(body);
    await flush();
    const result = await store.load('/a');
    aborter.abort();
    expect(calls[0]?.signal.aborted).toBe(false);
    write('[0,0,{"d":"late"}]\n');
    end();
    if (result.kind !== 'page') throw new Error(result.kind);
    expect(await result.payload.data.home).toBe('late');
    expect(calls).toHaveLength(1);
    void store.load('/a');
    expect(calls).toHaveLength(2);
  });
});

it('a navigation sends up to three requests while the page is the one that the server rendered', async () => {
  let isServerRendered = true;
  const { store, calls } = createTestStore({ isServerRendered: () => isServerRendered });
  const loaded = store.load('/a');
  for (let i = 0; i < 3; i++) {
    await expect.poll(() => calls).toHaveLength(i + 1);
    calls[i]?.answer('down', { status: 500 });
  }
  expect(await loaded).toMatchObject({ kind: 'failed' });
  isServerRendered = false;
  const second = store.load('/a');
  calls[3]?.answer('down', { status: 500 });
  expect(await second).toMatchObject({ kind: 'failed' });
  expect(calls).toHaveLength(4);
});

describe('simultaneous requests', () => {
  const names = (calls: readonly Call[]) => calls.map(({ url }) => url.replace('/_data/', ''));

  /** Creates a store with five running prefetches. */
  function createBusyStore() {
    const test = createTestStore();
    for (let i = 0; i < 5; i++) test.store.prefetch(`/p${i}`, 'viewport');
    const answer = async (index: number) => {
      test.calls[index]?.answer();
      await flush();
    };
    return { ...test, answer, more: () => names(test.calls).slice(5) };
  }

  it('run prefetches on intent before those in the viewport and at render, which keep their order', async () => {
    const { store, answer, more } = createBusyStore();
    store.prefetch('/r', 'render');
    store.prefetch('/v', 'viewport');
    store.prefetch('/i1', 'intent');
    store.prefetch('/i2', 'intent');
    for (let i = 0; i < 4; i++) await answer(i);
    expect(more()).toEqual(['i1', 'i2', 'r', 'v']);
  });

  it('keep a prefetch that has another reason, and do not start dropped ones', () => {
    const { store, calls, more } = createBusyStore();
    const hover = new AbortController();
    store.prefetch('/p0', 'intent', hover.signal);
    hover.abort();
    expect(calls[0]?.signal.aborted).toBe(false);
    store.prefetch('/waits', 'viewport');
    store.dropPrefetches();
    expect(calls.every(({ signal }) => signal.aborted)).toBe(true);
    expect(more()).toEqual([]);
  });
});

describe('the holes of a shell page', () => {
  const SHELL = {
    build: 'b1',
    routes: ['home'],
    params: {},
    data: { home: { title: 'shop', user: 'data.home.user' } },
    styles: {},
    shell: true,
  };
  const shellLine = `${JSON.stringify({ d: SHELL, p: [['promise', 0, 'data', 'home', 'user']] })}\n`;
  const toHoles = (user: string) => `["data.home.user",0,{"d":"${user}"}]\n`;
  const HOLES = { ...WIRE, 'X-Holes': '1' };
  const page = async (result: Promise<PageDataResult>) => {
    const found = await result;
    if (found.kind !== 'page') throw new Error(`The result is ${found.kind}.`);
    return found.payload.data.home as { title: string; user: Promise<string> };
  };

  it.each([
    ['a redirect', `{"d":{"build":"b1","redirect":"/sign-in"}}\n`, WIRE],
    ['another build', toHoles('ada'), { ...HOLES, 'X-Build-Id': 'b2' }],
  ])('cause the page to be loaded again if %s answers for a shell in memory', async (_what, body, headers) => {
    const onRefused = vi.fn();
    const { store, calls } = createTestStore({ onRefused });
    const first = store.loadShell('/shop');
    calls[1]?.answer(shellLine);
    calls[0]?.answer(toHoles('ada'), { headers: HOLES });
    await (await page(first)).user;
    await page(store.loadShell('/shop'));
    calls[2]?.answer(body, { headers });
    await expect.poll(() => onRefused.mock.calls).toHaveLength(1);
    expect(store.isSkewed()).toBe(headers['X-Build-Id'] === 'b2');
    void store.loadShell('/shop');
    expect(calls.slice(3)).toHaveLength(2);
  });

  it('are of the shell that is shown: for another one, the page is loaded again, and then its document', async () => {
    const onRefused = vi.fn();
    const { store, calls } = createTestStore({ onRefused });
    const answer = async (at: number, shell: string, holes: string) => {
      const loading = page(store.loadShell('/shop'));
      calls[at + 1]?.answer(shellLine, { headers: { ...WIRE, ETag: shell } });
      calls[at]?.answer(toHoles('ada'), { headers: { ...WIRE, 'X-Holes': holes } });
      return loading;
    };
    const first = await answer(0, 'W/"1"', 'W/"2"');
    await expect.poll(() => onRefused.mock.calls).toEqual([['/shop', false]]);
    expect(await Promise.race([first.user, 'pending'])).toBe('pending');
    await answer(2, 'W/"1"', 'W/"2"');
    await expect
      .poll(() => onRefused.mock.calls)
      .toEqual([
        ['/shop', false],
        ['/shop', true],
      ]);
    expect(await (await answer(4, 'W/"2"', 'W/"2"')).user).toBe('ada');
  });

  it.each([
    ['is refused by a busy server', { kind: 'public', status: 503 }, ['{"busy":true}', { status: 503 }]],
    ['is refused by a proxy', { kind: 'public', status: 429 }, ['<h1>No</h1>', { status: 429 }]],
    ['ends early', { kind: 'failure', inBrowser: true }, ['', { headers: HOLES }]],
    [
      'fails',
      { kind: 'failure', status: 500 },
      [`["data.home.user",1,{"d":{"kind":"failure","status":500}}]\n`, { headers: HOLES }],
    ],
  ] as const)('are rejected in their place if the request %s', async (_what, shown, [body, init]) => {
    const onRefused = vi.fn();
    const { store, calls } = createTestStore({ onRefused });
    const loading = store.loadShell('/shop');
    calls[1]?.answer(shellLine);
    calls[0]?.answer(body, init);
    const { title, user } = await page(loading);
    expect(title).toBe('shop');
    expect(await user.catch(toShownError)).toMatchObject(shown);
    expect(onRefused).not.toHaveBeenCalled();
  });

  it('are not awaited if the page leads elsewhere, and are aborted with their navigation', async () => {
    const { store, calls } = createTestStore();
    const redirected = store.loadShell('/shop');
    calls[1]?.answer(`{"d":{"build":"b1","redirect":"/sign-in"}}\n`);
    expect((await redirected).kind).toBe('redirect');
    expect(calls[0]?.signal.aborted).toBe(true);
    const controller = new AbortController();
    const left = store.loadShell('/shop', controller.signal);
    controller.abort();
    await expect(left).rejects.toThrow();
    expect(calls[2]?.signal.aborted).toBe(true);
  });
});
