import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import { renderToStaticMarkup } from 'react-dom/server';
import { Outlet } from 'react-router';
import { describe, expect, it, vi } from 'vitest';
import { type ActionArgs, conflict, invalid } from '../../../../../src/server/engine/pages/server-page.ts';
import { Await } from '../../../../../src/shared/engine/rendering/await.tsx';
import { useActionResult, useData } from '../../../../../src/shared/engine/rendering/hooks.ts';
import { createActionUses, Form } from '../../../../../src/shared/engine/routing/actions.tsx';
import {
  forbidden,
  notFound,
  publicError,
  redirect,
  unauthorized,
} from '../../../../../src/shared/engine/routing/control-flow.ts';
import { ACTION_ACCEPT } from '../../../../../src/shared/engine/wire/protocol.ts';
import {
  BUILD_ID,
  CanaryError,
  createGate,
  leakIn,
  parseData,
  parseDocument,
  startPages,
  type TestPage,
} from '../../../../support/pages-app.tsx';
import { askRaw, sendRaw } from '../../../../support/raw-http.ts';
import { until } from '../../../../support/until.ts';

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const DATA = { ...FORM, Accept: ACTION_ACCEPT };

function Page() {
  const outcome = useActionResult('page.save');
  return (
    <Form action="page.save">
      <p>count {useData<number | null>()}</p>
      <output>{JSON.stringify(outcome ?? null)}</output>
      <input name="name" defaultValue={String(outcome?.values?.name ?? '')} />
    </Form>
  );
}

function Root() {
  return (
    <main>
      <b>{JSON.stringify(useActionResult('root.subscribe') ?? null)}</b>
      <Outlet />
    </main>
  );
}

type Actions = NonNullable<TestPage['server']>['actions'];

function table(
  actions: Actions,
  page: Partial<NonNullable<TestPage['server']>> = {},
  layout: TestPage['server'] = {},
): readonly TestPage[] {
  return [
    {
      id: 'root',
      view: Root,
      server: layout,
      children: [
        { id: 'page', path: '/page', view: Page, server: { ...page, actions } },
        { id: 'plain', path: '/plain', view: () => <p>plain</p> },
      ],
    },
  ];
}

const post = (body: string, headers: Record<string, string> = FORM) => ({ method: 'POST', headers, body });
const outputOf = (html: string): unknown =>
  JSON.parse((/<output>(.*?)<\/output>/.exec(html)?.[1] ?? 'null').replaceAll('&quot;', '"'));

describe('an action without JavaScript', () => {
  it('redirects to the page with GET, keeping its query string, if it returns nothing', async () => {
    const seen: unknown[] = [];
    const app = await startPages(
      table({ save: ({ form, params, signal }) => void seen.push([...form], params, signal.aborted) }),
    );
    const reply = await app.ask('/page?a=%20b', post('_action=page.save&name=Ada+L&name=2'));
    expect([reply.status, reply.headers.location, reply.text]).toEqual([303, '/page?a=%20b', '']);
    expect(reply.headers['cache-control']).toBe('no-store');
    expect(reply.headers.vary).toContain('Accept');
    expect(seen).toEqual([
      [
        ['_action', 'page.save'],
        ['name', 'Ada L'],
        ['name', '2'],
      ],
      {},
      false,
    ]);
  });

  it('redirects with 303 unless another status is given', async () => {
    const app = await startPages(
      table({ save: () => redirect('/plain#a'), other: () => redirect('/plain', { status: 307 }) }),
    );
    const first = await app.ask('/page', post('_action=page.save'));
    expect([first.status, first.headers.location]).toEqual([303, '/plain#a']);
    expect((await app.ask('/page', post('_action=page.other'))).status).toBe(307);
  });

  it('shows its result in the page, which has fresh data', async () => {
    let count = 1;
    const app = await startPages(table({ save: () => ({ saved: ++count, at: [1] }) }, { loader: () => count }));
    const { status, headers, text } = await app.ask('/page', post('_action=page.save&name=Ada'));
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('no-store');
    expect(headers.etag).toBeUndefined();
    expect(headers['content-security-policy']).toContain("'nonce-");
    expect(outputOf(text)).toEqual({ action: 'page.save', status: 200, data: { saved: 2, at: [1] } });
    expect(text).toContain('count <!-- -->2');
    expect(parseDocument(text).payload.action).toMatchObject({ action: 'page.save', status: 200 });
  });

  it.each([
    [422, invalid],
    [409, conflict],
  ])('that rejects the form with %s shows the page with the errors and the entered values', async (status, refuse) => {
    const app = await startPages(table({ save: () => refuse({ errors: { name: 'Too short.', '': 'No.' } }) }));
    const body =
      '_action=page.save&name=%3Cb%3E%22A&tag=1&tag=2&password=secret1&new_pwd=secret2&token=secret3&cardNumber=secret4&user_pin=secret5&spin=1';
    const reply = await app.ask('/page', post(body));
    expect(reply.status).toBe(status);
    expect(reply.headers['cache-control']).toBe('no-store');
    expect(reply.text).toContain('value="&lt;b&gt;&quot;A"');
    expect(reply.text).not.toMatch(/secret\d/);
    expect(parseDocument(reply.text).payload.action).toEqual({
      action: 'page.save',
      status,
      errors: { name: 'Too short.', '': 'No.' },
      values: { name: '<b>"A', tag: ['1', '2'], spin: '1' },
    });
    expect(app.failures()).toEqual([]);
  });

  it('sends the page with its deferred values, because no script can insert them later', async () => {
    const app = await startPages(
      table(
        { save: () => ({ done: true }) },
        { loader: () => null },
        { loader: () => ({ late: sleep(20, 'late') }) },
      ).map((root) => ({
        ...root,
        view: () => (
          <>
            <Await value={useData<{ late: Promise<string> }>().late}>{(value) => <i>{value}</i>}</Await>
            <Outlet />
          </>
        ),
      })),
    );
    const { text } = await app.ask('/page', post('_action=page.save'));
    expect(text).toContain('<i>late</i>');
    expect(text).not.toMatch(/<template|<noscript/);
  });

  it.each([
    ['notFound()', notFound, 404, 'not-found'],
    ['forbidden()', forbidden, 403, 'forbidden'],
    ['unauthorized()', unauthorized, 401, 'unauthorized'],
    ['publicError()', () => publicError(402, 'Pay first.'), 402, 'public'],
  ])('that ends with %s shows the error page in the route', async (_name, end, status, kind) => {
    let loads = 0;
    const app = await startPages(table({ save: () => end() }, { loader: () => ++loads }));
    const reply = await app.ask('/page', post('_action=page.save'));
    expect(reply.status).toBe(status);
    expect(reply.text).toContain('<main>');
    expect(reply.text).toContain(`<section data-error="${kind}">`);
    expect(loads).toBe(0);
    expect(app.failures()).toEqual([]);
  });

  it('that fails shows only the digest', async () => {
    const app = await startPages(table({ save: () => Promise.reject(new CanaryError()) }));
    const { status, headers, text } = await app.ask('/page', {
      ...post('_action=page.save&name=Ada'),
      headers: { ...FORM, Host: 'weir.example' },
    });
    expect(status).toBe(500);
    expect(text).toContain('<main>');
    expect(text).toContain(
      'Application error: a client-side exception has occurred while loading the host weir.example',
    );
    expect(text).toContain(`<code>${headers['x-error-digest']}</code>`);
    expect(leakIn(text + JSON.stringify(headers))).toBeUndefined();
    expect(app.failures()).toHaveLength(1);
    expect(app.failures()[0]).toMatchObject({ origin: 'action', routeId: 'page', method: 'POST' });
  });
});

describe('an action with JavaScript', () => {
  it('answers with its result and the fresh data of the page, without caching', async () => {
    let count = 1;
    const app = await startPages(table({ save: () => ({ saved: ++count }) }, { loader: () => count }));
    const { status, headers, text } = await app.ask('/page', post('_action=page.save', DATA));
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'application/x-ndjson',
      'cache-control': 'no-store',
      'x-build-id': BUILD_ID,
    });
    expect(headers.vary).toContain('Accept');
    expect(headers.etag).toBeUndefined();
    expect(parseData(text).payload).toMatchObject({
      action: { action: 'page.save', status: 200, data: { saved: 2 } },
      data: { page: 2 },
    });
  });

  it('answers with data even if it returns nothing', async () => {
    const app = await startPages(table({ save: () => undefined }, { loader: () => 'fresh' }));
    const { status, text } = await app.ask('/page', post('_action=page.save', DATA));
    expect(status).toBe(200);
    expect(parseData(text).payload).toMatchObject({
      action: { action: 'page.save', status: 200 },
      data: { page: 'fresh' },
    });
  });

  it.each([
    [422, invalid],
    [409, conflict],
  ])('that rejects the form with %s sends fresh data in the same response', async (status, refuse) => {
    const app = await startPages(table({ save: () => refuse({ errors: { name: 'No.' } }) }, { loader: () => 'fresh' }));
    const reply = await app.ask('/page', post('_action=page.save&name=A&password=secret1', DATA));
    expect(reply.status).toBe(status);
    expect(reply.text).not.toContain('secret1');
    expect(parseData(reply.text).payload).toMatchObject({
      action: { status, errors: { name: 'No.' }, values: { name: 'A' } },
      data: { page: 'fresh' },
    });
  });

  it('that redirects answers 200 with the location', async () => {
    const app = await startPages(
      table({
        save: () => redirect('/plain?a=1', { status: 307 }),
        out: () => redirect('https://pay.example/', { external: true }),
      }),
    );
    const inside = await app.ask('/page', post('_action=page.save', DATA));
    expect([inside.status, inside.headers.location]).toEqual([200, undefined]);
    expect(JSON.parse(inside.text)).toEqual({ d: { build: BUILD_ID, redirect: '/plain?a=1' } });
    const outside = await app.ask('/page', post('_action=page.out', DATA));
    expect(JSON.parse(outside.text)).toEqual({
      d: { build: BUILD_ID, redirect: 'https://pay.example/', reload: true },
    });
  });

  it('that fails sends its digest in header and data, and nothing else', async () => {
    const app = await startPages(table({ save: () => Promise.reject(new CanaryError()) }));
    const { status, headers, text } = await app.ask('/page', post('_action=page.save', DATA));
    expect(status).toBe(500);
    expect(parseData(text).payload.errors).toEqual({
      page: { kind: 'failure', status: 500, digest: headers['x-error-digest'] },
    });
    expect(leakIn(text + JSON.stringify(headers))).toBeUndefined();
  });

  it('streams the deferred values of the page', async () => {
    const app = await startPages(table({ save: () => 1 }, { loader: () => ({ late: sleep(20, 'late') }) }));
    const { text } = await app.ask('/page', post('_action=page.save', DATA));
    expect(parseData(text).late).toHaveLength(1);
  });
});

describe('the arguments of an action', () => {
  it.each([
    ['without JavaScript', FORM],
    ['with JavaScript', DATA],
  ])('are the request as a POST, and the fields in `form`, %s', async (_name, headers) => {
    const seen = createGate<unknown[]>();
    const app = await startPages(
      table({
        save: ({ request, params, context, signal, form }) => {
          seen.resolve([
            request.method,
            request.url,
            request.headers.get('x-two'),
            request.body,
            params,
            typeof context.fetch,
            signal.aborted,
            [...form],
          ]);
        },
      }),
    );
    await app.ask('/page?a=%20b', {
      ...post('_action=page.save&name=%C3%84da+L&tag=1&tag=&tag=2', { ...headers, Host: 'weir.example', 'X-Two': '1' }),
    });
    expect(await seen.promise).toEqual([
      'POST',
      'http://weir.example/page?a=%20b',
      '1',
      null,
      {},
      'function',
      false,
      [
        ['_action', 'page.save'],
        ['name', 'Äda L'],
        ['tag', '1'],
        ['tag', ''],
        ['tag', '2'],
      ],
    ]);
  });

  it('have a signal that is aborted when the visitor leaves, also in the request', async () => {
    const called = createGate<ActionArgs>();
    const app = await startPages(
      table({
        save: (args) => {
          called.resolve(args);
          return new Promise(() => {});
        },
      }),
    );
    const asked = app.open('/page', post('', FORM));
    asked.on('error', () => {});
    asked.end('_action=page.save');
    const { request, signal } = await called.promise;
    expect(signal.aborted).toBe(false);
    asked.destroy();
    await until(() => signal.aborted, 'the signal');
    expect(request.signal.aborted).toBe(true);
    expect(signal.reason).toMatchObject({ name: 'VisitorGone' });
  });

  it('have method POST for guards before the action and for itself, and GET for guards and loaders after it', async () => {
    const methods: string[] = [];
    const app = await startPages(
      table(
        { save: ({ request }) => ({ method: methods.push(request.method) }) },
        {
          guard: ({ request }) => void methods.push(request.method),
          loader: ({ request }) => methods.push(request.method),
        },
      ),
    );
    await app.ask('/page', post('_action=page.save'));
    expect(methods).toEqual(['POST', 'POST', 'GET', 'GET']);
  });
});

describe('the name of an action', () => {
  it('is that of the pressed button, if both the button and its form have one', async () => {
    const { Form, submitAs } = createActionUses<{ page: { save(): void; drop(): void } }>();
    const html = renderToStaticMarkup(
      <Form action="page.save">
        <button {...submitAs('page.drop')}>Drop</button>
      </Form>,
    );
    // The fields of a form are sent in document order.
    const names = [...html.matchAll(/value="([^"]*)"/g)].map(([, value]) => value);
    const body = names.map((name) => `_action=${name}`).join('&');
    expect(body).toBe('_action=page.save&_action=page.drop');
    const called: string[] = [];
    const app = await startPages(table({ save: () => void called.push('save'), drop: () => void called.push('drop') }));
    await app.ask('/page', post(body));
    await app.ask('/page', post(body, DATA));
    expect(called).toEqual(['drop', 'drop']);
  });

  const layout: TestPage['server'] = { actions: { subscribe: ({ form }) => ({ mail: form.get('mail') }) } };

  it('of an action that fails keeps the layout and shows the error in the page', async () => {
    const fails: TestPage['server'] = {
      actions: {
        subscribe() {
          throw new Error('canary');
        },
      },
    };
    const app = await startPages(table({}, {}, fails));
    const { status, text } = await app.ask('/page', post('_action=root.subscribe'));
    expect(status).toBe(500);
    expect(text).toContain('<main><b>null</b><section data-error="failure">');
  });

  it('selects the layout that defines it, from any page', async () => {
    const app = await startPages(table({}, {}, layout));
    for (const path of ['/page', '/plain']) {
      const { status, text } = await app.ask(path, post('_action=root.subscribe&mail=a%40b'));
      expect(status).toBe(200);
      expect(text).toContain('<b>{&quot;action&quot;:&quot;root.subscribe&quot;,&quot;status&quot;:200');
    }
  });

  it('is optional if the page has a default action', async () => {
    let calls = 0;
    const app = await startPages(table({ default: () => void calls++ }));
    expect((await app.ask('/page', post('name=a'))).status).toBe(303);
    expect(calls).toBe(1);
  });

  it.each(['page.gone', 'page.constructor', 'page.__proto__', 'other.save', 'plain.save', 'save', 'page.', '.', ''])(
    'without an action (%j) is answered with 409, the build and the entered values',
    async (name) => {
      const app = await startPages(table({ save: () => 1 }));
      const body = `_action=${encodeURIComponent(name)}&name=Ada&password=secret1`;
      for (const headers of [FORM, DATA]) {
        const reply = await app.ask('/page', post(body, headers));
        expect(reply.status).toBe(409);
        expect(reply.headers['x-build-id']).toBe(BUILD_ID);
        const { payload } = headers === FORM ? parseDocument(reply.text) : parseData(reply.text);
        expect(payload.action).toMatchObject({ action: name, status: 409, values: { name: 'Ada' } });
        expect(payload.action?.errors?.['']).toMatch(/Reload the page.* What you typed is kept/);
        expect(reply.text).not.toContain('secret1');
        if (headers === DATA) continue;
        // Without JavaScript, the page shows the message and the text in place of the form.
        expect(payload.errors).toMatchObject({ page: { kind: 'public', status: 409, typed: { name: 'Ada' } } });
        expect(reply.text).toContain('<section data-error="public">');
        expect(reply.text).toMatch(/<label>name<!-- --> <textarea readOnly="">Ada<\/textarea><\/label>/);
      }
      expect(app.failures()).toEqual([]);
    },
  );

  it.each([
    ['/page', 'root, page'],
    ['/nope', 'root'],
  ])(
    'of a route that is not on the page is explained in the log, and in development on the page: %s',
    async (path, ids) => {
      const [root] = table({ save: () => 1 });
      const other = { id: 'other', path: '/other', view: () => null, server: { actions: { send: () => 1 } } } as const;
      const app = await startPages([{ ...root, id: 'root', view: Root, children: [...(root?.children ?? []), other] }]);
      const sentence = expect.stringMatching(`"other.send", but .* no route "other" \\(its routes: ${ids}\\)`);
      for (const dev of ['', '1']) {
        vi.stubEnv('SPILLWAY_DEV', dev);
        app.lines.length = 0;
        const data = await app.ask(path, post('_action=other.send', DATA));
        const html = await app.ask(path, post('_action=other.send'));
        vi.unstubAllEnvs();
        expect([data.status, html.status]).toEqual([path === '/nope' ? 404 : 409, 409]);
        const hints = app.lines.filter(({ level }) => level === 40).map(({ msg }) => msg);
        expect(hints).toEqual([sentence, sentence]);
        const message = dev ? sentence : expect.stringContaining('another version');
        expect(parseData(data.text).payload.action?.errors).toEqual({ '': message });
        expect(Object.values(parseDocument(html.text).payload.errors ?? {})).toMatchObject([{ message }]);
      }
    },
  );

  it('is not allowed if the page has no action: 405 with Allow', async () => {
    const app = await startPages(table({ save: () => 1 }));
    for (const path of ['/plain', '/page']) {
      const reply = await app.ask(path, post('name=Ada'));
      expect([reply.status, reply.headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS']);
    }
  });
});

describe('a form posted to a path without a page', () => {
  const acted: string[] = [];
  const layout: TestPage['server'] = {
    actions: {
      subscribe: ({ form }) => {
        acted.push(String(form.get('mail')));
        return form.get('mail') === 'bad' ? invalid({ errors: { mail: 'No.' } }) : { done: true };
      },
      leave: () => void acted.push('left'),
      move: () => redirect('/plain'),
    },
  };
  const start = (options?: Parameters<typeof startPages>[1]) => {
    acted.length = 0;
    return startPages(table({}, {}, layout), options);
  };
  const NOT_FOUND = { '@not-found': { kind: 'not-found', status: 404 } };
  const refused = { action: 'root.subscribe', status: 422, errors: { mail: 'No.' }, values: { mail: 'bad' } };

  it("runs the layout's action, and shows the not-found page with errors and entered values", async () => {
    const app = await start();
    const { status, text } = await app.ask('/nope?a=1', post('_action=root.subscribe&mail=bad&password=secret1'));
    expect([status, acted]).toEqual([404, ['bad']]);
    expect(text).toContain('<b>{&quot;action&quot;:&quot;root.subscribe&quot;,&quot;status&quot;:422');
    expect(text).toContain('<section data-error="not-found">');
    expect(text).not.toContain('secret1');
    expect(parseDocument(text).payload).toMatchObject({ action: refused, errors: NOT_FOUND });
  });

  it('is answered with data if a script posted it', async () => {
    const app = await start();
    const reply = await app.ask('/nope', post('_action=root.subscribe&mail=bad', DATA));
    expect(reply.status).toBe(404);
    expect(reply.headers).toMatchObject({ 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' });
    expect(parseData(reply.text).payload).toMatchObject({ action: refused, errors: NOT_FOUND });
    const done = await app.ask('/nope', post('_action=root.subscribe&mail=a', DATA));
    expect(parseData(done.text).payload.action).toMatchObject({ status: 200, data: { done: true } });
    expect(JSON.parse((await app.ask('/nope', post('_action=root.move', DATA))).text).d.redirect).toBe('/plain');
  });

  it('redirects as on a page, to the same URL or the one that the action returns', async () => {
    const app = await start();
    const done = await app.ask('/nope?a=1', post('_action=root.leave'));
    expect([done.status, done.headers.location, acted]).toEqual([303, '/nope?a=1', ['left']]);
    expect((await app.ask('/nope', post('_action=root.move'))).headers.location).toBe('/plain');
  });

  it.each([
    ['JSON', '{}', { 'Content-Type': 'application/json' }],
    ['nothing', '', {}],
    ['a form without an action name', 'log=admin', FORM],
  ])('only shows the not-found page for %s', async (_name, body, headers) => {
    const app = await start();
    const reply = await app.ask('/nope', post(body, headers as Record<string, string>));
    expect([reply.status, reply.headers.allow, acted]).toEqual([404, undefined, []]);
    expect(reply.text).toContain('<section data-error="not-found">');
  });

  it('is handled after product routes and an existing app', async () => {
    const app = await start({
      routes: express.Router().post('/webhook', (_req, res) => void res.send('theirs')),
      existingApp: { app: express().post('/old', (_req, res) => void res.send('old')) },
    });
    const body = '_action=root.subscribe&mail=bad';
    expect((await app.ask('/webhook', post(body))).text).toBe('theirs');
    expect((await app.ask('/old', post(body))).text).toBe('old');
    expect(acted).toEqual([]);
    expect((await app.ask('/nope', post(body))).status).toBe(404);
    expect(acted).toEqual(['bad']);
  });

  it.each([
    ['', {}],
    [' in an app with an existing app, which is asked first', { existingApp: { app: express() } }],
  ])('is ignored if it comes from another site%s', async (_name, options) => {
    const app = await start(options);
    for (const headers of [FORM, DATA]) {
      const foreign = { ...headers, Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' };
      const { status } = await app.ask('/nope', post('_action=root.subscribe&mail=bad', foreign));
      expect([403, 404]).toContain(status);
    }
    expect(acted).toEqual([]);
  });
});

describe('an action on a page that fails afterwards', () => {
  it.each([
    ['with a control-flow response', () => notFound(), 404, 'not-found'],
    ['with a failure', () => Promise.reject(new CanaryError()), 500, 'failure'],
  ])('is answered with both results, %s', async (_name, end, status, kind) => {
    const app = await startPages(
      table({}, { loader: end }, { actions: { subscribe: () => invalid({ errors: { mail: 'No.' } }) } }),
    );
    const body = '_action=root.subscribe&mail=bad';
    const data = await app.ask('/page', post(body, DATA));
    const html = await app.ask('/page', post(body));
    for (const [reply, { payload }] of [
      [data, parseData(data.text)],
      [html, parseDocument(html.text)],
    ] as const) {
      expect(reply.status).toBe(status);
      expect(payload.action).toMatchObject({ status: 422, errors: { mail: 'No.' }, values: { mail: 'bad' } });
      expect(payload.errors).toMatchObject({ page: { kind, status } });
    }
    expect(html.text).toContain('<b>{&quot;action&quot;:&quot;root.subscribe&quot;,&quot;status&quot;:422');
  });

  it('is answered with both results if rendering fails', async () => {
    const [root] = table({}, {}, { actions: { subscribe: () => invalid({ errors: { mail: 'No.' } }) } });
    const broken = {
      id: 'broken',
      path: '/broken',
      view: () => {
        throw new CanaryError();
      },
    } satisfies TestPage;
    const app = await startPages([{ ...root, id: 'root', view: Root, children: [broken] }]);
    const { status, text } = await app.ask('/broken', post('_action=root.subscribe&mail=bad'));
    expect(status).toBe(500);
    expect(parseDocument(text).payload).toMatchObject({
      action: { status: 422, values: { mail: 'bad' } },
      errors: { broken: { kind: 'failure', status: 500 } },
    });
  });
});

describe('guards', () => {
  it('of the whole branch run before an action, and before its loaders', async () => {
    const calls: string[] = [];
    const app = await startPages(
      table(
        { save: () => void calls.push('action') },
        { guard: () => forbidden(), loader: () => void calls.push('loader') },
        { actions: { subscribe: () => void calls.push('layout action') } },
      ),
    );
    for (const name of ['page.save', 'root.subscribe']) {
      for (const headers of [FORM, DATA]) {
        expect((await app.ask('/page', post(`_action=${name}`, headers))).status).toBe(403);
      }
    }
    expect(calls).toEqual([]);
  });

  it('can allow reading and forbid changes', async () => {
    const calls: string[] = [];
    const guard = ({ request }: { request: Request }) => (request.method === 'POST' ? forbidden() : undefined);
    const app = await startPages(table({ save: () => void calls.push('action') }, {}, { guard }));
    expect((await app.ask('/page')).status).toBe(200);
    for (const headers of [FORM, DATA]) {
      expect((await app.ask('/page', post('_action=page.save', headers))).status).toBe(403);
    }
    expect(calls).toEqual([]);
  });

  it('do not run before an open action, so that a visitor can sign in', async () => {
    const calls: string[] = [];
    const actions = {
      enter: () => void calls.push('enter'),
      change: () => void calls.push('change'),
      refuse: () => invalid({ errors: { token: 'No.' } }),
    };
    const app = await startPages(
      table({}, {}, { guard: () => unauthorized(), actions, openActions: ['enter', 'refuse'] }),
    );
    expect((await app.ask('/page', post('_action=root.enter'))).status).toBe(303);
    expect((await app.ask('/page', post('_action=root.change'))).status).toBe(401);
    expect(calls).toEqual(['enter']);
    // The guards' result for the page itself is still used.
    const refused = await app.ask('/page', post('_action=root.refuse', DATA));
    expect(refused.status).toBe(401);
    expect(JSON.parse(refused.text).d).toMatchObject({ action: { status: 422, errors: { token: 'No.' } } });
  });

  it('that redirect also redirect a form', async () => {
    const app = await startPages(table({ save: () => 1 }, { guard: () => redirect('/plain') }));
    expect((await app.ask('/page', post('_action=page.save'))).headers.location).toBe('/plain');
    expect(JSON.parse((await app.ask('/page', post('_action=page.save', DATA))).text).d.redirect).toBe('/plain');
  });
});

describe('the body of a form', () => {
  const count = (form: FormData): number => [...form.keys()].length;

  it('can be multipart, with files', async () => {
    const seen = createGate<unknown[]>();
    const app = await startPages(
      table({
        save: async ({ form }) => {
          const file = form.get('file') as File;
          seen.resolve([form.get('name'), file.name, file.type, await file.text()]);
          return invalid({ errors: { file: 'No.' } });
        },
      }),
    );
    const form = new FormData();
    form.append('_action', 'page.save');
    form.append('name', 'Ädä');
    form.append('file', new File(['inside the file'], 'ä "1".txt', { type: 'text/plain' }));
    const encoded = new Response(form);
    const reply = await app.ask('/page', {
      method: 'POST',
      headers: { 'Content-Type': String(encoded.headers.get('content-type')) },
      body: Buffer.from(await encoded.arrayBuffer()),
    });
    expect(reply.status).toBe(422);
    expect(await seen.promise).toEqual(['Ädä', 'ä "1".txt', 'text/plain', 'inside the file']);
    expect(parseDocument(reply.text).payload.action?.values).toEqual({ name: 'Ädä' });
    expect(reply.text).not.toContain('inside the file');
  });

  it.each([
    ['without a boundary', 'multipart/form-data', 'x'],
    [
      'with an early end',
      'multipart/form-data; boundary=b',
      '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1',
    ],
    ['with another boundary', 'multipart/form-data; boundary=b', '--c\r\n\r\n--c--\r\n'],
    ['of nothing', 'multipart/form-data; boundary=b', ''],
  ])('is answered with 400 if it is multipart %s', async (_name, type, body) => {
    const app = await startPages(table({ save: () => 1 }));
    for (const accept of ['text/html', ACTION_ACCEPT]) {
      const reply = await app.ask('/page', post(body, { 'Content-Type': type, Accept: accept }));
      expect(reply.status).toBe(400);
      expect(reply.headers['x-error-digest']).toBeUndefined();
    }
    expect(app.failures()).toEqual([]);
  });

  it.each([
    ['JSON', { 'Content-Type': 'application/json' }],
    ['text', { 'Content-Type': 'text/plain' }],
    ['without a type', {}],
    ['gzip', { ...FORM, 'Content-Encoding': 'gzip' }],
    ['br', { ...FORM, 'Content-Encoding': 'br' }],
  ])('is answered with 415 as %s', async (_name, headers) => {
    const app = await startPages(table({ default: () => 1 }));
    const plain = await app.ask('/page', post('a=1', headers as Record<string, string>));
    expect(plain.status).toBe(415);
    expect(plain.text).toContain('<section data-error="public">');
    const data = await app.ask('/page', post('a=1', { ...headers, Accept: ACTION_ACCEPT }));
    expect(data.status).toBe(415);
    expect(parseData(data.text).payload.action?.errors?.['']).toBeTruthy();
    expect(app.failures()).toEqual([]);
  });

  it('is rejected with 413 by its announced length, before it is read', async () => {
    const app = await startPages(table({ default: () => 1 }), { maxActionBytes: 1000 });
    const head = [
      'POST /page HTTP/1.1',
      'Host: a',
      'Content-Type: application/x-www-form-urlencoded',
      'Content-Length: 5000',
    ];
    const text = await sendRaw(app.port, `${head.join('\r\n')}\r\n\r\na=1`, { patience: 300 });
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
    expect(app.failures()).toEqual([]);
  });

  it.each([
    ['with Content-Length', ['Content-Length: 50000'], `a=${'x'.repeat(49_998)}`],
    ['in chunks', ['Transfer-Encoding: chunked'], `${'3e8\r\n'}${'x'.repeat(1000)}\r\n`.repeat(50).concat('0\r\n\r\n')],
  ])('is rejected with 413 if it is too large, %s', async (_name, headers, body) => {
    const app = await startPages(table({ default: () => 1 }), { maxActionBytes: 1000 });
    for (const accept of ['text/html', ACTION_ACCEPT]) {
      const reply = await askRaw(
        app.port,
        'POST /page HTTP/1.1',
        ['Host: localhost', 'Content-Type: application/x-www-form-urlencoded', `Accept: ${accept}`, ...headers],
        body,
      );
      expect(reply.status).toBe(413);
      expect(reply.body).toMatch(/larger than/);
    }
    expect(app.failures()).toEqual([]);
  });

  it('is rejected with 413 while more of it is still arriving', async () => {
    const app = await startPages(table({ default: () => 1 }), { maxActionBytes: 1000 });
    const head =
      'POST /page HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Type: application/x-www-form-urlencoded';
    const socket = connect(app.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.on('error', () => {}); // data sent after the response can be refused
    let text = '';
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
    });
    socket.write(`${head}\r\n\r\n`);
    for (let chunk = 0; chunk < 20 && !socket.destroyed; chunk += 1) {
      socket.write(`3e8\r\n${'x'.repeat(1000)}\r\n`);
      await sleep(5);
    }
    await until(() => text.includes('</html>'), 'the answer');
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
    expect(app.failures()).toEqual([]);
  });

  it('can be as large as the limit, to the byte', async () => {
    const app = await startPages(table({ default: ({ form }) => ({ size: String(form.get('a')).length }) }), {
      maxActionBytes: 1000,
    });
    expect((await app.ask('/page', post(`a=${'x'.repeat(998)}`, DATA))).status).toBe(200);
    expect((await app.ask('/page', post(`a=${'x'.repeat(999)}`, DATA))).status).toBe(413);
  });

  it('has a maximum number of fields', async () => {
    const app = await startPages(table({ default: ({ form }) => count(form) }));
    expect((await app.ask('/page', post('a=1&'.repeat(1000), DATA))).status).toBe(200);
    expect((await app.ask('/page', post('a=1&'.repeat(1001), DATA))).status).toBe(413);
  });

  it('can have been parsed by a step', async () => {
    const app = await startPages(table({ save: ({ form }) => ({ all: [...form] }) }), {
      steps: [express.urlencoded({ extended: false })],
    });
    const { status, text } = await app.ask('/page', post('_action=page.save&name=A&tag=1&tag=2', DATA));
    expect(status).toBe(200);
    expect(parseData(text).payload.action?.data).toHaveProperty('all', [
      ['_action', 'page.save'],
      ['name', 'A'],
      ['tag', '1'],
      ['tag', '2'],
    ]);
  });

  it('that never arrives completely is not a failure, because the visitor left', async () => {
    let calls = 0;
    const app = await startPages(table({ default: () => void calls++ }));
    const head = `POST /page HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 500\r\n\r\na=1`;
    const socket = connect(app.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(head);
    await sleep(30);
    socket.resetAndDestroy();
    await until(() => app.lines.some((line) => line.msg === 'request'), 'the line of the request');
    await sendRaw(app.port, head, { half: true, patience: 300 }); // closes its side before everything is sent
    await sendRaw(app.port, `${head.replace('Content-Length: 500', 'Transfer-Encoding: chunked')}\r\n`, {
      patience: 100,
    });
    await sleep(30);
    expect(calls).toBe(0);
    expect(app.failures()).toEqual([]);
  });
});

describe('a form of another site', () => {
  it('is rejected, unless the page accepts posts from that origin', async () => {
    let calls = 0;
    const actions = { default: () => void calls++ };
    const app = await startPages(
      [
        { id: 'open', path: '/open', view: Page, server: { actions, acceptPostsFrom: ['https://pay.example'] } },
        { id: 'closed', path: '/closed', view: Page, server: { actions } },
      ],
      { publicOrigins: ['https://weir.example'] },
    );
    const ask = async (path: string, headers: Record<string, string>) =>
      (await app.ask(path, post('a=1', { ...FORM, Host: 'weir.example', ...headers }))).status;
    expect(await ask('/open', { Origin: 'https://pay.example', 'Sec-Fetch-Site': 'cross-site' })).toBe(303);
    expect(await ask('/open', { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' })).toBe(403);
    expect(await ask('/open', { Origin: 'null', 'Sec-Fetch-Site': 'cross-site' })).toBe(403);
    expect(await ask('/closed', { Origin: 'https://pay.example', 'Sec-Fetch-Site': 'cross-site' })).toBe(403);
    expect(await ask('/closed', { Origin: 'https://weir.example' })).toBe(303);
    expect(calls).toBe(2);
  });
});

it('a form posted to a static page is answered only for this visitor', async () => {
  const app = await startPages([
    {
      id: 'page',
      path: '/page',
      mode: 'static',
      view: Page,
      server: { loader: () => 1, actions: { save: () => invalid({ errors: { name: 'No.' } }) } },
    },
  ]);
  const kept = await app.ask('/page');
  const reply = await app.ask('/page', post('_action=page.save&name=Ada'));
  expect(reply.status).toBe(422);
  expect(reply.headers.etag).toBeUndefined();
  expect(reply.text).toContain('value="Ada"');
  expect((await app.ask('/page')).text).toBe(kept.text);
});
