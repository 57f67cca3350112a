import type { DataStrategyFunctionArgs } from 'react-router';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createDataStrategy } from '../../../src/client/navigation/data-strategy.ts';
import { shown } from '../../../src/client/navigation/link-events.ts';
import { createPageDataStore } from '../../../src/client/page-data/store.ts';
import { BUILD_HEADER, NDJSON_TYPE } from '../../../src/shared/wire/protocol.ts';

const documents = vi.fn();
const answer = vi.fn<(url: string, init: RequestInit) => Promise<Response>>();

beforeEach(() => {
  for (const mock of [documents, answer]) mock.mockReset();
  const storage = new Map<string, string>();
  vi.stubGlobal('fetch', (url: string, init: RequestInit = {}) => answer(url, init));
  vi.stubGlobal('sessionStorage', {
    getItem: (key: string) => storage.get(key),
    setItem: (key: string, value: string) => storage.set(key, value),
    removeItem: (key: string) => storage.delete(key),
  });
  vi.stubGlobal('history', { replaceState: () => undefined });
  vi.stubGlobal('document', { querySelectorAll: () => [] });
  for (const name of ['addEventListener', 'removeEventListener']) vi.stubGlobal(name, () => undefined);
  shown.url = 'https://site.test/list';
  const go = (how: string) => (url?: string) => documents(url ? `${how} ${new URL(url).pathname}` : how);
  vi.stubGlobal('location', {
    ...{ origin: 'https://site.test', href: 'https://site.test/list', pathname: '/list', search: '' },
    ...{ assign: go('assign'), replace: go('replace'), reload: go('reload') },
  });
  vi.stubGlobal('window', globalThis);
  onTestFinished(() => void vi.unstubAllGlobals());
});

function toPage(data: unknown, { build = 'b', ...more } = {}): Response {
  const payload = { build, routes: ['list'], params: {}, styles: {}, data: { list: data }, ...more };
  const headers = { 'Content-Type': NDJSON_TYPE, [BUILD_HEADER]: build, ETag: `W/"${build}-x"` };
  return new Response(`${JSON.stringify({ d: payload })}\n`, { headers });
}

type Ask = Partial<Pick<DataStrategyFunctionArgs, 'fetcherKey' | 'unstable_initiator' | 'unstable_navigationType'>>;

/** A data strategy at `/list`, which shows `shown`. */
function start() {
  const store = createPageDataStore({
    ...{ base: '', build: 'b', isServerRendered: () => false },
    onPage: () => undefined,
    onRefused: () => undefined,
  });
  const fetchers = new Map<string, object>();
  const location = { pathname: '/list', search: '', hash: '' };
  const state = { location, navigation: {}, fetchers, loaderData: { list: 'shown' }, errors: null };
  const onStay = vi.fn();
  const ignore = () => undefined;
  const strategy = createDataStrategy(
    { build: 'b', store, load: async () => undefined, prepare: async () => undefined, isShell: () => false },
    { getState: () => state as never, toText: (text) => text },
    { onFailure: ignore, onLeave: ignore, onStay, onRecall: ignore, onSend: ignore, onAnswer: ignore },
  );
  async function ask(
    path: string,
    { fetcherKey = null, unstable_navigationType = null, ...more }: Ask = {},
    init: RequestInit = {},
    needsData = true,
  ) {
    const matches = [{ route: { id: 'list' }, shouldCallHandler: () => needsData }] as never;
    const request = new Request(`https://site.test${path}`, init);
    const args = {
      request,
      matches,
      fetcherKey,
      unstable_navigationType,
      ...more,
    } as unknown as DataStrategyFunctionArgs;
    return ((await strategy(args)) as Record<string, { type: string; result: unknown }>).list;
  }
  const navigate = (path: string, type: 'PUSH' | 'REPLACE' | 'POP' = 'PUSH') =>
    ask(path, { unstable_initiator: 'navigation', unstable_navigationType: type as never });
  /** Loads the page again in the background. */
  const refresh = () => ask('/list', { unstable_initiator: 'revalidation' });
  /** Sends the form of a fetcher, then loads the page as React Router does. */
  async function send(key: string, init: RequestInit = {}) {
    const formData = new FormData();
    formData.set('item', key);
    fetchers.set(key, { formData, data: `data of ${key}` });
    const body = new URLSearchParams({ item: key });
    await ask('/list', { fetcherKey: key }, { method: 'POST', body, ...init });
    return ask('/list', { unstable_initiator: 'fetcher' });
  }
  return { store, ask, navigate, refresh, send, onStay, fetchers, state };
}

const fail = () => Promise.reject(new TypeError('Failed to fetch'));

const BAD: [string, (url: string, init: RequestInit) => Promise<Response>][] = [
  ["if a proxy's sign-in answers", async (_url, { method }) => (method === 'HEAD' ? new Response() : fail())],
  ['if the server is busy', async () => new Response('{"busy":true}\n', { status: 503 })],
  ['if the server runs another build', async () => toPage('next', { build: 'next' })],
  ['if there is no page any more', async () => new Response('gone', { status: 404 })],
];

describe.each(BAD)('%s', (_when, respond) => {
  it('the page that is shown stays when it is loaded again in the background', async () => {
    answer.mockImplementation(respond);
    expect(await start().refresh()).toEqual({ type: 'data', result: 'shown' });
    expect(documents).not.toHaveBeenCalled();
  });

  it('a fetcher keeps its data, and the page stays', async () => {
    answer.mockImplementation(respond);
    const { ask, fetchers } = start();
    fetchers.set('names', { data: ['Ada'] });
    const loaded = await ask('/list?q=a', { fetcherKey: 'names', unstable_initiator: 'fetcher' });
    expect(loaded).toEqual({ type: 'data', result: ['Ada'] });
    expect(documents).not.toHaveBeenCalled();
  });

  it.each([
    ['PUSH', 'assign /other'],
    ['REPLACE', 'replace /other'],
    ['POP', 'replace /other'],
  ] as const)('a navigation of type %s loads the document', async (type, expected) => {
    answer.mockImplementation(respond);
    void start().navigate('/other', type);
    await expect.poll(() => documents.mock.calls).toEqual([[expected]]);
  });
});

describe('without a connection', () => {
  const MESSAGE = 'The page could not be loaded. Check your connection, then try again.';

  it.each([
    ['Back', 'POP', {}],
    ['a form that was accepted', 'PUSH', { formMethod: 'POST' }],
  ] as const)('%s shows an error at its URL', async (_what, type, navigation) => {
    answer.mockImplementation(fail);
    const { navigate, state } = start();
    state.navigation = navigation;
    const loaded = await navigate('/other', type);
    expect(loaded).toEqual({ type: 'error', result: { kind: 'public', status: 503, message: MESSAGE } });
    expect(documents).not.toHaveBeenCalled();
  });
});

it('redirects without an end are left to the browser', async () => {
  const { navigate, onStay } = start();
  const headers = { 'Content-Type': NDJSON_TYPE };
  answer.mockImplementation(async () => new Response('{"d":{"build":"b","redirect":"/list"}}\n', { headers }));
  for (let redirects = 0; redirects < 20; redirects++) {
    expect(await navigate('/list')).toMatchObject({ result: { status: 302 } });
  }
  void navigate('/list');
  await expect.poll(() => documents.mock.calls).toEqual([['reload']]);
  expect(onStay).not.toHaveBeenCalled();
});

it('a link that is followed while a form is sent shows nothing from before the form', async () => {
  const { store, navigate, send } = start();
  let cart: string[] = [];
  answer.mockImplementation(async (_url, { method, signal }) => {
    if (method !== 'POST') return toPage(cart);
    cart = ['book']; // the server carries it out
    return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
  });
  store.prefetch('/cart', 'intent', new AbortController().signal);
  const abort = new AbortController();
  const sent = send('a', { signal: abort.signal }).catch((error: Error) => error.name);
  store.prefetch('/cart', 'intent', new AbortController().signal);
  abort.abort();
  expect(await sent).toBe('AbortError');
  expect(await navigate('/cart')).toMatchObject({ result: ['book'] });
});

it('the page that a fetcher brings of another URL is not shown when the visitor follows a link there later', async () => {
  const { ask, navigate } = start();
  answer.mockImplementation(async (_url, { method }) => {
    const action = { action: 'list.star', status: 422, errors: { '': 'No.' } };
    return method === 'POST' ? toPage('before', { action } as never) : toPage('now');
  });
  await ask('/cart', { fetcherKey: 'a' }, { method: 'POST', body: new URLSearchParams() });
  await ask('/list', { unstable_initiator: 'fetcher' }, {}, false);
  expect(await navigate('/cart')).toMatchObject({ result: 'now' });
});

it('the page that a slow answer brings does not undo what a later answer showed', async () => {
  const { send } = start();
  const late = Promise.withResolvers<void>();
  let starred: string[] = [];
  answer.mockImplementation(async (_url, { method, body }) => {
    if (method !== 'POST') return toPage([...starred]);
    const item = (body as URLSearchParams).get('item') ?? '';
    starred = [...starred, item];
    const page = toPage([...starred], { action: { action: 'list.star', status: 200 } } as never);
    if (item === 'a') await late.promise;
    return page;
  });
  const slow = send('a');
  expect(await send('b')).toMatchObject({ result: ['a', 'b'] });
  late.resolve();
  expect(await slow).toMatchObject({ result: ['a', 'b'] });
});
