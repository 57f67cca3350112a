import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import { Outlet } from 'react-router';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type ActionArgs, conflict, invalid, type LoaderArgs } from '../../../../src/server/pages/server-page.ts';
import { Await } from '../../../../src/shared/rendering/await.tsx';
import { useActionResult, useData } from '../../../../src/shared/rendering/hooks.ts';
import { forbidden, notFound, redirect, unauthorized } from '../../../../src/shared/routing/control-flow.ts';
import {
  BUILD_ID,
  CanaryError,
  createGate,
  DATA,
  FORM,
  leakIn,
  parsePage,
  startPage,
  startPages,
  type TestPage,
} from '../../../support/pages-app.tsx';
import { sendRaw } from '../../../support/raw-http.ts';
import { until } from '../../../support/until.ts';

type Server = NonNullable<TestPage['server']>;

const SENDERS = [
  ['without JavaScript', FORM],
  ['with JavaScript', DATA],
] as const;

function Page() {
  const values = useActionResult('page.save')?.values;
  return (
    <form>
      <p>count {useData<number | null>()}</p>
      <input name="name" defaultValue={String(values?.name ?? '')} />
    </form>
  );
}

function Root() {
  return (
    <main>
      <b>{useActionResult('root.subscribe')?.status}</b>
      <Outlet />
    </main>
  );
}

/** A layout around a page with actions and a page without. */
function table(actions: Server['actions'], page: Server = {}, layout: Server = {}): [TestPage] {
  const children: TestPage[] = [
    { id: 'page', path: '/page', view: Page, server: { ...page, actions } },
    { id: 'plain', path: '/plain' },
  ];
  return [{ id: 'root', view: Root, server: layout, children }];
}

describe('an action', () => {
  it('that returns nothing redirects to the page with GET, keeping its query string', async () => {
    const app = await startPages(table({ save: () => undefined }));
    const reply = await app.post('/page?a=%20b', '_action=page.save');
    expect([reply.status, reply.headers.location, reply.text]).toEqual([303, '/page?a=%20b', '']);
    expect(reply.headers['cache-control']).toBe('no-store');
    expect(reply.headers.vary).toContain('Accept');
    const data = await app.post('/page', '_action=page.save', DATA);
    expect(parsePage(data.text).payload.action).toEqual({ action: 'page.save', status: 200 });
  });

  it.each(SENDERS)('that returns what cannot be sent fails as an action of its route, %s', async (_name, headers) => {
    const app = await startPages(table({ save: () => () => 1 }));
    const reply = await app.post('/page', '_action=page.save', headers);
    expect(reply.status).toBe(500);
    expect(parsePage(reply.text).payload.errors).toMatchObject({ page: { kind: 'failure', status: 500 } });
    expect(app.failures()).toMatchObject([{ origin: 'action', routeId: 'page' }]);
  });

  it.each(SENDERS)('shows its result in the page, which has fresh data, %s', async (_name, headers) => {
    let count = 1;
    const app = await startPages(table({ save: () => ({ saved: ++count }) }, { loader: () => count }));
    const reply = await app.post('/page', '_action=page.save', headers);
    expect(reply.status).toBe(200);
    expect(reply.headers).toMatchObject({ 'cache-control': 'no-store', 'x-build-id': BUILD_ID });
    expect(reply.headers.vary).toContain('Accept');
    expect(reply.headers.etag).toBeUndefined();
    const { payload } = parsePage(reply.text);
    expect(payload.action).toEqual({ action: 'page.save', status: 200, data: { saved: 2 } });
    expect(payload.data.page).toBe(2);
    if (headers === DATA) expect(reply.headers['content-type']).toBe('application/x-ndjson');
    else expect(reply.text).toContain('count <!-- -->2');
  });

  it.each([
    [422, invalid],
    [409, conflict],
  ])('that rejects the form with %s sends errors, and what was typed except secrets', async (status, refuse) => {
    const errors = { name: 'Too short.', '': 'No.' };
    const app = await startPages(table({ save: () => refuse({ errors }) }, { loader: () => 'fresh' }));
    const body =
      '_action=page.save&name=%3Cb%3E%22A&tag=1&tag=2&password=secret1&new_pwd=secret2&token=secret3&cardNumber=secret4&user_pin=secret5&spin=1';
    for (const [, headers] of SENDERS) {
      const reply = await app.post('/page', body, headers);
      expect([reply.status, reply.headers['cache-control']]).toEqual([status, 'no-store']);
      expect(reply.text).not.toMatch(/secret\d/);
      const { action, data } = parsePage(reply.text).payload;
      const values = { name: '<b>"A', tag: ['1', '2'], spin: '1' };
      expect(action).toEqual({ action: 'page.save', status, errors, values });
      expect(data.page).toBe('fresh');
      if (headers === FORM) expect(reply.text).toContain('value="&lt;b&gt;&quot;A"');
    }
    expect(app.failures()).toEqual([]);
  });

  it('waits for deferred values without JavaScript, because no script can insert them, and streams them with', async () => {
    const view = () => <Await value={useData<{ late: Promise<string> }>().late}>{(value) => <i>{value}</i>}</Await>;
    const server = { loader: () => ({ late: sleep(20, 'late') }), actions: { save: () => 1 } };
    const app = await startPage({ view, server });
    const { text } = await app.post('/page', '_action=page.save');
    expect(text).toContain('<i>late</i>');
    expect(text).not.toMatch(/<template|<noscript/);
    expect(parsePage((await app.post('/page', '_action=page.save', DATA)).text).deferred).toHaveLength(1);
  });

  it.each(SENDERS)('that outlasts the deadline is not cut, nor is its page, %s', async (_name, headers) => {
    const seen: boolean[] = [];
    const loader = ({ signal }: LoaderArgs) => {
      seen.push(signal.aborted);
      return { late: sleep(30, 'late') };
    };
    const save = async ({ signal }: LoaderArgs) => {
      await sleep(600);
      seen.push(signal.aborted);
      return 1;
    };
    const page = { id: 'page', path: '/page', server: { loader, actions: { save } } } as const;
    const app = await startPages([page], { deadlineMs: 500 });
    const { payload, decoder } = parsePage((await app.post('/page', '_action=page.save', headers)).text);
    expect(await (payload.data.page as { late: Promise<string> }).late).toBe('late');
    expect([seen, decoder.pending, app.failures()]).toEqual([[false, false], 0, []]);
  });

  it('can return a promise that is rejected while the page is loaded', async () => {
    const save = () => ({ late: sleep(5).then(() => Promise.reject(new CanaryError())) });
    const app = await startPages(table({ save }, { loader: () => sleep(30, 1) }));
    const { deferred } = parsePage((await app.post('/page', '_action=page.save', DATA)).text);
    expect(deferred).toHaveLength(1);
    expect(app.failures()).toMatchObject([{ origin: 'late', route: '/page' }]);
  });

  it.each([
    ['notFound()', notFound, 404, 'not-found'],
    ['forbidden()', forbidden, 403, 'forbidden'],
  ])('that ends with %s shows the error page in the route', async (_name, end, status, kind) => {
    let loads = 0;
    const app = await startPages(table({ save: () => end() }, { loader: () => ++loads }));
    const reply = await app.post('/page', '_action=page.save');
    expect(reply.status).toBe(status);
    expect(reply.text).toMatch(new RegExp(`<main>.*<section data-error="${kind}">`));
    expect(loads).toBe(0);
    expect(app.failures()).toEqual([]);
  });

  it.each(SENDERS)('that fails shows only its digest, %s', async (_name, headers) => {
    const app = await startPages(table({ save: () => Promise.reject(new CanaryError()) }));
    const reply = await app.post('/page', '_action=page.save', { ...headers, Host: 'weir.example' });
    const [failure, ...more] = app.failures();
    const digest = `${failure?.digest}-${failure?.occurrence}`;
    expect([reply.status, reply.headers['x-error-digest'], more]).toEqual([500, digest, []]);
    expect(failure).toMatchObject({ origin: 'action', routeId: 'page', method: 'POST' });
    expect(parsePage(reply.text).payload.errors).toEqual({ page: { kind: 'failure', status: 500, digest } });
    expect(leakIn(reply.text, reply.headers)).toBeUndefined();
    if (headers === DATA) return;
    expect(reply.text).toMatch(/<main>.*while loading the host weir\.example/);
    expect(reply.text).toContain(`<code>${digest}</code>`);
  });

  it('redirects with 303 unless another status is given, and with JavaScript with 200', async () => {
    const app = await startPages(
      table({
        save: () => redirect('/plain?a=1#b'),
        other: () => redirect('/plain', { status: 307 }),
        out: () => redirect('https://pay.example/', { external: true }),
      }),
    );
    for (const [name, status, location, data] of [
      ['save', 303, '/plain?a=1#b', { redirect: '/plain?a=1#b' }],
      ['other', 307, '/plain', { redirect: '/plain' }],
      ['out', 303, 'https://pay.example/', { redirect: 'https://pay.example/', reload: true }],
    ] as const) {
      const plain = await app.post('/page', `_action=page.${name}`);
      expect([plain.status, plain.headers.location]).toEqual([status, location]);
      const reply = await app.post('/page', `_action=page.${name}`, DATA);
      expect([reply.status, reply.headers.location]).toEqual([200, undefined]);
      expect(JSON.parse(reply.text)).toEqual({ d: { build: BUILD_ID, ...data } });
    }
  });

  it('that redirects to a site without a `form` source gets a warning in development', async () => {
    const out = () => redirect('https://pay.example/?token=canary', { external: true });
    const app = await startPages(table({ out, save: () => redirect('/plain') }));
    for (const dev of ['', '1']) {
      vi.stubEnv('SPILLWAY_DEV', dev);
      for (const name of ['save', 'out']) await app.post('/page', `_action=page.${name}`, DATA);
    }
    vi.unstubAllEnvs();
    expect(app.lines.filter(({ level }) => level === 40)).toEqual([
      expect.objectContaining({ msg: expect.stringContaining('redirected to https://pay.example,') }),
    ]);
    expect(JSON.stringify(app.lines)).not.toContain('canary');
  });

  it('of a static page is answered only for this visitor', async () => {
    const server = { loader: () => 1, actions: { save: () => invalid({ errors: { name: 'No.' } }) } };
    const app = await startPage({ mode: 'static', view: Page, server });
    const kept = await app.ask('/page');
    const reply = await app.post('/page', '_action=page.save&name=Ada');
    expect([reply.status, reply.headers.etag]).toEqual([422, undefined]);
    expect(reply.text).toContain('value="Ada"');
    expect((await app.ask('/page')).text).toBe(kept.text);
  });
});

it.each(SENDERS)(
  'the arguments of an action are the request as a POST, and the fields in `form`, %s',
  async (_name, headers) => {
    const seen = createGate<unknown[]>();
    const app = await startPages(
      table({
        save({ request, params, context, signal, form }) {
          const { method, url, body } = request;
          seen.resolve([method, url, request.headers.get('x-two'), body, params, typeof context.fetch]);
          seen.promise.then((all) => all.push(signal.aborted, [...form]));
        },
      }),
    );
    const body = '_action=page.save&name=%C3%84da+L&tag=1&tag=&tag=2';
    await app.post('/page?a=%20b', body, { ...headers, Host: 'weir.example', 'X-Two': '1' });
    expect(await seen.promise).toEqual([
      ...['POST', 'http://weir.example/page?a=%20b', '1', null, {}, 'function', false],
      [
        ['_action', 'page.save'],
        ['name', 'Äda L'],
        ['tag', '1'],
        ['tag', ''],
        ['tag', '2'],
      ],
    ]);
  },
);

describe('the name of an action', () => {
  it('selects the layout that defines it, from any page, and keeps it if the action fails', async () => {
    let fails = false;
    const subscribe = () => (fails ? Promise.reject(new CanaryError()) : 'done');
    const app = await startPages(table({}, {}, { actions: { subscribe } }));
    for (const path of ['/page', '/plain']) {
      const { status, text } = await app.post(path, '_action=root.subscribe');
      expect(status).toBe(200);
      expect(text).toContain('<main><b>200</b>');
    }
    fails = true;
    const { status, text } = await app.post('/page', '_action=root.subscribe');
    expect(status).toBe(500);
    expect(text).toContain('<main><b></b><section data-error="failure">');
  });

  it('is optional if the page has a default action, and 405 with Allow if it has none', async () => {
    let calls = 0;
    const app = await startPages(table({ default: () => void calls++ }));
    expect((await app.post('/page', 'name=a')).status).toBe(303);
    expect(calls).toBe(1);
    const other = await startPages(table({ save: () => 1 }));
    for (const path of ['/plain', '/page']) {
      const reply = await other.post(path, 'name=Ada');
      expect([reply.status, reply.headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS']);
    }
  });

  it.each(['page.gone', 'page.constructor', 'page.__proto__', 'plain.save', 'save', ''])(
    'without an action (%j) is answered with 409, the build and the entered values',
    async (name) => {
      const app = await startPages(table({ save: () => 1 }));
      const body = `_action=${encodeURIComponent(name)}&name=Ada&password=secret1`;
      for (const [, headers] of SENDERS) {
        const reply = await app.post('/page', body, headers);
        expect([reply.status, reply.headers['x-build-id']]).toEqual([409, BUILD_ID]);
        const { action, errors } = parsePage(reply.text).payload;
        const message = expect.stringMatching(/Reload the page.* What you typed is kept/);
        const values = { name: 'Ada' };
        const sent = headers === DATA ? values : {}; // otherwise in the error
        expect(action).toEqual({ action: name, status: 409, values: sent, errors: { '': message } });
        expect(reply.text).not.toContain('secret1');
        if (headers === DATA) continue;
        // Without JavaScript, the page shows the message and the text in place of the form.
        expect(errors).toMatchObject({ page: { kind: 'public', status: 409, typed: values } });
        expect(reply.text).toMatch(/<label>name<!-- --> <textarea readOnly="">Ada<\/textarea><\/label>/);
      }
      expect(app.failures()).toEqual([]);
    },
  );

  it('shows only so much of a form again, because the response is many times as long', async () => {
    const app = await startPages(table({ save: () => 1 }));
    const reply = await app.post('/page', `_action=page.gone&short=Ada&long=${'%3C'.repeat(300_000)}`);
    expect([reply.status, reply.text.includes('Ada'), reply.text.length < 20_000]).toEqual([409, true, true]);
  });

  it('of a route that is not on the page is explained in the log, and in development on the page', async () => {
    const [root] = table({ save: () => 1 });
    const other: TestPage = { id: 'other', path: '/other', server: { actions: { send: () => 1 } } };
    const app = await startPages([{ ...root, children: [...(root.children ?? []), other] }]);
    vi.stubEnv('SPILLWAY_DEV', '1');
    onTestFinished(() => void vi.unstubAllEnvs());
    const missing = expect.stringMatching(/"page.sav", .* Its actions: "page.save"\.$/);
    const misplaced = expect.stringMatching('"other.send", but .* no route "other" \\(its routes: root, page\\)');
    const nameless = expect.stringMatching(/without the name of an action, .* Its actions: "page.save"\.$/);
    const cases = [
      ['_action=page.sav&name=Ada', 409, missing],
      ['_action=other.send&name=Ada', 409, misplaced],
      ['name=Ada', 405, nameless],
    ] as const;
    for (const [body, status, message] of cases) {
      const reply = await app.post('/page', body);
      // The page reads the result of "page.save", so another one would show nothing.
      expect([reply.status, parsePage(reply.text).payload]).toMatchObject([status, { errors: { page: { message } } }]);
      expect(parsePage(reply.text).payload.action).toBeUndefined();
    }
    expect(app.lines.filter(({ level }) => level === 40)).toMatchObject(cases.map(([, , msg]) => ({ msg })));
  });
});

describe('a form posted to a path without a page', () => {
  const acted: string[] = [];
  const actions: Server['actions'] = {
    subscribe({ form }) {
      acted.push(String(form.get('mail')));
      return form.get('mail') === 'bad' ? invalid({ errors: { mail: 'No.' } }) : { done: true };
    },
  };
  const BAD = '_action=root.subscribe&mail=bad&password=secret1';
  function start(options?: Parameters<typeof startPages>[1]) {
    acted.length = 0;
    return startPages(table({}, {}, { actions }), options);
  }

  it.each(SENDERS)("runs the layout's action, and shows the not-found page, %s", async (_name, headers) => {
    const app = await start();
    const reply = await app.post('/nope?a=1', BAD, headers);
    expect([reply.status, reply.headers['cache-control'], acted]).toEqual([404, 'no-store', ['bad']]);
    expect(reply.text).not.toContain('secret1');
    expect(parsePage(reply.text).payload).toMatchObject({
      action: { action: 'root.subscribe', status: 422, errors: { mail: 'No.' }, values: { mail: 'bad' } },
      errors: { '@not-found': { kind: 'not-found', status: 404 } },
    });
    if (headers === FORM) expect(reply.text).toContain('<main><b>422</b><section data-error="not-found">');
    const done = await app.post('/nope', '_action=root.subscribe&mail=a', headers);
    expect(parsePage(done.text).payload.action).toMatchObject({ status: 200, data: { done: true } });
  });

  it('only shows the not-found page if it names no action', async () => {
    const app = await start();
    for (const headers of [FORM, {}]) {
      const reply = await app.ask('/nope', { method: 'POST', headers, body: 'log=admin' });
      expect([reply.status, reply.headers.allow, acted]).toEqual([404, undefined, []]);
      expect(reply.text).toContain('<section data-error="not-found">');
    }
  });

  it('is handled after product routes and an existing app', async () => {
    const app = await start({
      routes: express.Router().post('/webhook', (_req, res) => void res.send('theirs')),
      existingApp: { app: express().post('/old', (_req, res) => void res.send('old')) },
    });
    expect((await app.post('/webhook', BAD)).text).toBe('theirs');
    expect((await app.post('/old', BAD)).text).toBe('old');
    expect(acted).toEqual([]);
    expect((await app.post('/nope', BAD)).status).toBe(404);
    expect(acted).toEqual(['bad']);
  });
});

const throws = () => {
  throw new CanaryError();
};
it.each([
  ['its loader ends with a control-flow response', { server: { loader: notFound } }, 404],
  ['its loader fails', { server: { loader: throws } }, 500],
  ['it cannot be rendered', { view: throws }, 500],
] satisfies [string, Partial<TestPage>, number][])(
  'a page whose form was posted is sent with both results if %s',
  async (_name, broken, status) => {
    const [root] = table({}, {}, { actions: { subscribe: () => invalid({ errors: { mail: 'No.' } }) } });
    const app = await startPages([{ ...root, children: [{ id: 'page', path: '/page', view: Page, ...broken }] }]);
    for (const [, headers] of SENDERS) {
      const reply = await app.post('/page', '_action=root.subscribe&mail=bad', headers);
      const { action, errors } = parsePage(reply.text).payload;
      expect(action).toMatchObject({ status: 422, errors: { mail: 'No.' }, values: { mail: 'bad' } });
      if (headers === DATA && 'view' in broken) continue;
      expect(reply.status).toBe(status);
      expect(errors).toMatchObject({ page: { status } });
    }
  },
);

it('guards of the whole branch run before an action, and before its loaders', async () => {
  const calls: string[] = [];
  const note = (what: string) => () => void calls.push(what);
  const page = { guard: () => forbidden(), loader: note('loader') };
  const app = await startPages(table({ save: note('action') }, page, { actions: { subscribe: note('layout') } }));
  for (const name of ['page.save', 'root.subscribe']) {
    for (const [, headers] of SENDERS) {
      expect((await app.post('/page', `_action=${name}`, headers)).status).toBe(403);
    }
  }
  expect(calls).toEqual([]);
});

it('guards do not run before an open action, so that a visitor can sign in, but before the page', async () => {
  const calls: string[] = [];
  const actions = {
    enter: ({ form }: ActionArgs) => (form.has('token') ? undefined : invalid({ errors: { token: 'No.' } })),
    change: () => void calls.push('change'),
  };
  const layout = { guard: () => unauthorized(), actions, openActions: ['enter'] as const };
  const app = await startPages(table({}, {}, layout));
  expect((await app.post('/page', '_action=root.enter&token=a')).status).toBe(303);
  expect((await app.post('/page', '_action=root.change')).status).toBe(401);
  expect(calls).toEqual([]);
  const refused = await app.post('/page', '_action=root.enter', DATA);
  expect(refused.status).toBe(401);
  expect(parsePage(refused.text).payload.action).toMatchObject({ status: 422, errors: { token: 'No.' } });
});

describe('the body of a form', () => {
  it('can be multipart, and what was typed is kept without its files', async () => {
    const app = await startPages(table({ save: () => invalid({ errors: { file: 'No.' } }) }));
    const form = new FormData();
    form.append('_action', 'page.save');
    form.append('name', 'Ädä');
    form.append('file', new File(['inside the file'], 'a.txt'));
    const reply = await fetch(`${app.origin}/page`, { method: 'POST', body: form });
    const text = await reply.text();
    expect([reply.status, parsePage(text).payload.action?.values]).toEqual([422, { name: 'Ädä' }]);
    expect(text).not.toContain('inside the file');
  });

  const MULTIPART = { 'Content-Type': 'multipart/form-data; boundary=b' };
  it.each([
    ['multipart of nothing', 400, MULTIPART, ''],
    ['JSON', 415, { 'Content-Type': 'application/json' }, 'a=1'],
    ['compressed with gzip', 415, { ...FORM, 'Content-Encoding': 'gzip' }, 'a=1'],
    ['larger than the limit', 413, FORM, `a=${'x'.repeat(999)}`],
  ])('is rejected if it is %s, with %s', async (_name, status, headers: Record<string, string>, body) => {
    const app = await startPages(table({ default: () => 1 }), { maxActionBytes: 1000 });
    const plain = await app.post('/page', body, headers);
    expect([plain.status, plain.headers['x-error-digest']]).toEqual([status, undefined]);
    expect(plain.text).toContain('<section data-error="public">');
    const data = await app.post('/page', body, { ...DATA, ...headers });
    expect(data.status).toBe(status);
    expect(parsePage(data.text).payload.action?.errors?.['']).toBeTruthy();
    expect(app.failures()).toEqual([]);
  });

  it('that never arrives completely runs no action and is not a failure, because the visitor left', async () => {
    let calls = 0;
    const app = await startPages(table({ default: () => void calls++ }));
    const head = 'POST /page HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded';
    await sendRaw(app.port, `${head}\r\nContent-Length: 500\r\n\r\na=1`, { half: true, patience: 300 });
    await sendRaw(app.port, `${head}\r\nTransfer-Encoding: chunked\r\n\r\na=1\r\n`, { patience: 100 });
    await until(() => app.lines.filter((line) => line.msg === 'request').length === 2, 'the lines of the requests');
    expect(calls).toBe(0);
    expect(app.failures()).toEqual([]);
  });
});
