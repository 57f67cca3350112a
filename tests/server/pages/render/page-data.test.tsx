import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { forbidden, redirect } from '../../../../src/shared/routing/control-flow.ts';
import { BUILD_ID, createGate, parsePage, startPages, type TestPage } from '../../../support/pages-app.tsx';

const page = (server: TestPage['server'], rest: Partial<TestPage> = {}): readonly TestPage[] => [
  { id: 'root', children: [{ id: 'page', path: '/page', server, ...rest }] },
];

const etagIn = (html: string): string | undefined => /data-etag="([^"]*)"/.exec(html)?.[1]?.replaceAll('&quot;', '"');

describe('GET of page data', () => {
  it('sends the data of every matched route in one line, cacheable with revalidation', async () => {
    const app = await startPages(page({ loader: () => ({ when: new Date(7) }) }));
    const { status, headers, text } = await app.ask('/_data/page');
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'application/x-ndjson',
      'cache-control': 'private, no-cache',
      'x-build-id': BUILD_ID,
    });
    expect(headers.etag).toMatch(/^W\/"BUILD7K3Q-[\w-]+"$/);
    expect(text.endsWith('\n')).toBe(true);
    expect(parsePage(text).payload).toEqual({
      build: BUILD_ID,
      routes: ['@frame', 'root', 'page'],
      params: {},
      data: { '@frame': null, root: null, page: { when: new Date(7) } },
      styles: {},
    });
  });

  it('answers 304 to its ETag, a strong one or any, and 200 if the data has changed', async () => {
    let data = 'same';
    const app = await startPages(page({ loader: () => data }));
    const etag = String((await app.ask('/_data/page')).headers.etag);
    for (const known of [etag, etag.replace('W/', ''), '*']) {
      const reply = await app.ask('/_data/page', { headers: { 'If-None-Match': known } });
      expect([reply.status, reply.text, reply.headers.etag]).toEqual([304, '', etag]);
      expect(reply.headers['x-build-id']).toBe(BUILD_ID);
    }
    data = 'changed';
    const reply = await app.ask('/_data/page', { headers: { 'If-None-Match': `${etag}, "x"` } });
    expect(reply.status).toBe(200);
    expect(reply.headers.etag).not.toBe(etag);
  });

  it('sends the line that the document contains, with the ETag that the document names', async () => {
    const app = await startPages(page({ loader: () => ({ a: 'ä & "b"' }) }));
    const html = (await app.ask('/page')).text;
    const data = await app.ask('/_data/page');
    expect(parsePage(html).payload).toEqual(parsePage(data.text).payload);
    expect(etagIn(html)).toBe(data.headers.etag);
  });
});

it.each(['gzip', 'br'])(
  'compressed page data streams: the first line arrives before a deferred value, with %s',
  async (encoding) => {
    const gates = [createGate<string>(), createGate<string>()];
    const app = await startPages(
      page({ loader: () => ({ first: gates[0]?.promise, second: gates[1]?.promise, text: 'words '.repeat(400) }) }),
      { compression: true },
    );
    const lineCounts: number[] = [];
    const { headers, text } = await app.ask('/_data/page', {
      headers: { 'Accept-Encoding': encoding },
      onText(soFar) {
        const lines = soFar.split('\n').length - 1;
        lineCounts.push(lines);
        gates[lines - 1]?.resolve('late');
      },
    });
    expect(headers).toMatchObject({ 'content-encoding': encoding, vary: 'Accept-Encoding', 'x-accel-buffering': 'no' });
    expect(new Set(lineCounts)).toEqual(new Set([1, 2, 3]));
    expect(parsePage(text).decoder.pending).toBe(0);
  },
);

const VOLATILE = ['date', 'x-request-id', 'content-length', 'transfer-encoding', 'x-accel-buffering'];
const rest = (headers: object) =>
  Object.entries(headers)
    .filter(([name]) => !VOLATILE.includes(name))
    .map(([name, value]) => `${name}: ${value}`.replace(/nonce-[^']+/g, 'nonce'));

it.each([
  ['settled data', { loader: () => 'same' }, 200, 'private, no-cache'],
  ['data with a version', { loader: () => 'same', version: () => '7' }, 200, 'private, no-cache'],
  ['deferred data', { loader: () => ({ late: sleep(20, 'late') }) }, 200, 'no-store'],
  ['a control-flow response', { guard: () => forbidden() }, 403, 'no-store'],
] satisfies [string, TestPage['server'], number, string][])(
  'HEAD of page data has the headers of GET, as that of the document, and renders nothing: %s',
  async (_name, server, status, caching) => {
    const view = vi.fn(() => null);
    const app = await startPages(page(server, { view }));
    for (const path of ['/_data/page', '/page']) {
      const head = await app.ask(path, { method: 'HEAD' });
      expect([head.status, head.text, view.mock.calls.length]).toEqual([status, '', 0]);
      const get = await app.ask(path);
      expect(rest(head.headers)).toEqual(rest(get.headers));
      if (path === '/page') continue;
      expect([get.headers['cache-control'], 'etag' in get.headers]).toEqual([caching, caching !== 'no-store']);
    }
  },
);

it('HEAD of page data stops deferred work, which is not a failure, as HEAD of the document does', async () => {
  for (const path of ['/_data/page', '/page']) {
    const stopped = createGate();
    const loader: NonNullable<TestPage['server']>['loader'] = ({ signal }) => ({
      late: sleep(5000, undefined, { signal }).finally(() => stopped.resolve()),
    });
    const app = await startPages(page({ loader }));
    expect((await app.ask(path, { method: 'HEAD' })).status).toBe(200);
    await stopped.promise;
    expect(app.failures()).toEqual([]);
  }
});

describe('a version', () => {
  it('lets HEAD and conditional requests skip the loader, but not the guard, and is the ETag in the document', async () => {
    const calls: string[] = [];
    let version = '1';
    const note = (what: string) => () => void calls.push(what);
    const app = await startPages(page({ guard: note('guard'), loader: note('loader'), version: () => version }));
    const etag = String(etagIn((await app.ask('/page')).text));
    const known = { headers: { 'If-None-Match': etag } };
    expect((await app.ask('/_data/page', { method: 'HEAD' })).headers.etag).toBe(etag);
    expect((await app.ask('/_data/page', known)).status).toBe(304);
    expect(calls).toEqual(['guard', 'loader', 'guard', 'guard']);
    version = '2';
    const changed = await app.ask('/_data/page', known);
    expect([changed.status, calls.at(-1)]).toEqual([200, 'loader']);
    expect(changed.headers.etag).not.toBe(etag);
  });

  it('that two users have in common is not the ETag of both, who can share a browser', async () => {
    const app = await startPages(page({ loader: () => 'data', version: () => '1' }));
    const ask = (cookie: string, known = '') =>
      app.ask('/_data/page', { headers: { Cookie: cookie, 'If-None-Match': known } });
    const etag = String((await ask('session=ada')).headers.etag);
    expect((await ask('session=ada', etag)).status).toBe(304);
    expect((await ask('session=ben', etag)).status).toBe(200);
  });

  it('that changes while the document loads does not apply to the data loaded before', async () => {
    let version = 1;
    const app = await startPages(page({ loader: () => version++, version: () => `${version}` }));
    const inDocument = etagIn((await app.ask('/page')).text);
    expect((await app.ask('/_data/page', { method: 'HEAD' })).headers.etag).not.toBe(inDocument);
  });

  it.each([
    ['failed', { loader: () => forbidden(), version: () => '1' }],
    ['has deferred values', { loader: () => ({ late: sleep(5, 'late') }), version: () => '1' }],
  ])('is not in a document that %s', async (_name, server) => {
    const app = await startPages(page(server));
    expect((await app.ask('/page')).text).not.toContain('data-etag');
  });

  it('is not called if a guard rejects, with any If-None-Match', async () => {
    const version = vi.fn(() => '1');
    const guarded = { guard: () => forbidden(), loader: () => 1, version };
    const children: TestPage[] = [{ id: 'page', path: '/page', server: guarded }];
    const app = await startPages([{ id: 'root', server: { loader: () => 1, version }, children }]);
    for (const ask of [{}, { headers: { 'If-None-Match': '*' } }, { method: 'HEAD' }]) {
      const { status, headers } = await app.ask('/_data/page', ask);
      expect([status, headers['cache-control'], headers.etag]).toEqual([403, 'no-store', undefined]);
    }
    expect(version).not.toHaveBeenCalled();
  });

  const throws = () => {
    throw new Error('canary');
  };
  it.each([
    ['does not return by the deadline', () => new Promise<never>(() => {})],
    ['throws', throws],
  ])('that %s is recorded, and the loader runs', async (_name, version) => {
    const app = await startPages(page({ loader: () => 'data', version }), { deadlineMs: 300 });
    expect((await app.ask('/_data/page', { method: 'HEAD' })).status).toBe(200);
    expect(app.failures()).toHaveLength(1);
    expect(parsePage((await app.ask('/_data/page')).text).payload.data.page).toBe('data');
  });

  it('counts only if every loader of the branch has one', async () => {
    let loads = 0;
    const app = await startPages([
      {
        id: 'root',
        server: { loader: () => ++loads },
        children: [{ id: 'page', path: '/page', server: { loader: () => 1, version: () => '1' } }],
      },
    ]);
    await app.ask('/_data/page', { method: 'HEAD' });
    expect(loads).toBe(1);
  });
});

it.each([
  ['a page', () => redirect('/page?a=1#b'), { redirect: '/page?a=1#b' }],
  ['a path without a page', () => redirect('/export.csv'), { redirect: '/export.csv', reload: true }],
  [
    'another site',
    () => redirect('https://pay.example/x', { external: true }),
    { redirect: 'https://pay.example/x', reload: true },
  ],
])('a redirect as data to %s is sent with 200', async (_name, loader, expected) => {
  const app = await startPages([...page({}), { id: 'from', path: '/from', server: { loader } }]);
  const { status, headers, text } = await app.ask('/_data/from');
  expect(status).toBe(200);
  expect(headers.location).toBeUndefined();
  expect(headers['cache-control']).toBe('no-store');
  expect(JSON.parse(text)).toEqual({ d: { build: BUILD_ID, ...expected } });
});

it('a path without data is answered with `notPage`, so that the browser loads a document', async () => {
  const app = await startPages(page({}));
  for (const path of ['/_data/nothing', '/_data/page/', '/_data/PAGE', '/_data/_data/page']) {
    const { status, headers, text } = await app.ask(path);
    expect([status, text]).toEqual([404, '{"notPage":true}']);
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['x-build-id']).toBe(BUILD_ID);
  }
});
