import { Outlet } from 'react-router';
import { describe, expect, it } from 'vitest';
import { useData } from '../../../../src/shared/engine/rendering/hooks.ts';
import {
  forbidden,
  notFound,
  publicError,
  redirect,
  unauthorized,
} from '../../../../src/shared/engine/routing/control-flow.ts';
import {
  CanaryError,
  leakIn,
  parseData,
  parseDocument,
  startPages,
  type TestPage,
  toDataPath,
} from '../../../support/pages-app.tsx';

const OUTCOMES: readonly [string, () => never, number, string][] = [
  ['notFound()', notFound, 404, 'not-found'],
  ['forbidden()', forbidden, 403, 'forbidden'],
  ['unauthorized()', unauthorized, 401, 'unauthorized'],
  ['publicError()', () => publicError(503, 'Closed for the flood.'), 503, 'public'],
];

function Frame() {
  return (
    <main>
      <h2>{useData<{ site: string } | null>()?.site ?? 'no data'}</h2>
      <Outlet />
    </main>
  );
}

/** A layout with data around a page with the given server parts. */
function within(server: TestPage['server'], layout: TestPage['server'] = {}): readonly TestPage[] {
  return [
    {
      id: 'root',
      view: Frame,
      server: { loader: () => ({ site: 'Weir' }), ...layout },
      children: [{ id: 'page', path: '/page', view: () => <p>shown</p>, server }],
    },
  ];
}

describe('a control-flow response', () => {
  describe.each(OUTCOMES)('%s', (_name, end, status, kind) => {
    it.each(['guard', 'loader'])('in a %s has its status, and shows its page within the layout', async (part) => {
      const app = await startPages(within({ [part]: () => end() }));
      const { text, ...reply } = await app.ask('/page');
      expect(reply.status).toBe(status);
      expect(reply.headers['cache-control']).toBe('no-store');
      expect(reply.headers['x-error-digest']).toBeUndefined();
      expect(text).toContain(`<section data-error="${kind}">`);
      expect(text).toContain('<h2>Weir</h2>');
      expect(text).toContain('<meta name="robots" content="noindex"/>');
      expect(text).not.toContain('shown');
      expect(parseDocument(text).payload.errors).toMatchObject({ page: { kind, status } });
      expect(app.failures()).toEqual([]);
    });

    it.each(['guard', 'loader'])('in a %s is sent as data with the same status', async (part) => {
      const app = await startPages(within({ [part]: () => end() }));
      const reply = await app.ask(toDataPath('/page'));
      expect(reply.status).toBe(status);
      expect(reply.headers['cache-control']).toBe('no-store');
      expect(reply.headers.etag).toBeUndefined();
      expect(parseData(reply.text).payload.errors).toMatchObject({ page: { kind, status } });
    });
  });

  it.each(['guard', 'loader'])('redirect() in a %s redirects before anything is rendered', async (part) => {
    const app = await startPages(within({ [part]: () => redirect('/other?a=1', { status: 307 }) }));
    const reply = await app.ask('/page');
    expect([reply.status, reply.headers.location, reply.text]).toEqual([307, '/other?a=1', '']);
    expect(reply.headers['cache-control']).toBe('no-store');
  });

  it('publicError() shows its message, escaped', async () => {
    const app = await startPages(within({ loader: () => publicError(503, 'Closed <for> "the" flood.') }));
    const { text } = await app.ask('/page');
    expect(text).toContain('<h1>Closed &lt;for&gt; &quot;the&quot; flood.</h1>');
    expect(parseDocument(text).payload.errors?.page?.message).toBe('Closed <for> "the" flood.');
  });
});

describe('guards', () => {
  it('run outermost first, before every loader, and stop everything after them', async () => {
    const calls: string[] = [];
    const note = (what: string) => (): void => void calls.push(what);
    const table: readonly TestPage[] = [
      {
        id: 'a',
        view: Outlet,
        server: { guard: note('guard a'), loader: note('load a') },
        children: [
          {
            id: 'b',
            view: Outlet,
            server: {
              guard: () => {
                calls.push('guard b');
                forbidden();
              },
              loader: note('load b'),
            },
            children: [
              { id: 'c', path: '/c', view: Outlet, server: { guard: note('guard c'), loader: note('load c') } },
            ],
          },
        ],
      },
    ];
    const app = await startPages(table);
    expect((await app.ask('/c')).status).toBe(403);
    expect(calls).toEqual(['guard a', 'guard b', 'load a']);
  });

  it('do not prevent loaders of all routes from running concurrently', async () => {
    let running = 0;
    let most = 0;
    const loader = async (): Promise<null> => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 20));
      running -= 1;
      return null;
    };
    const app = await startPages(within({ loader }, { loader }));
    await app.ask('/page');
    expect(most).toBe(2);
  });

  it('can delay loaders until they have decided', async () => {
    let loads = 0;
    const app = await startPages(
      within({
        guard: async () => {
          await new Promise((resolve) => setTimeout(resolve, 20));
          unauthorized();
        },
        loader: () => void loads++,
      }),
    );
    expect((await app.ask('/page')).status).toBe(401);
    expect(loads).toBe(0);
  });
});

describe('a failure', () => {
  it.each(['guard', 'loader'])('in a %s replaces only its route, and shows only its digest', async (part) => {
    const app = await startPages(
      within({
        [part]: () => {
          throw new CanaryError();
        },
      }),
    );
    const { status, headers, text } = await app.ask('/page', { headers: { Host: 'weir.example' } });
    expect(status).toBe(500);
    expect(text).toContain('<h2>Weir</h2>');
    expect(text).toContain(
      '<h1>Application error: a client-side exception has occurred while loading the host weir.example</h1>',
    );
    const digest = String(headers['x-error-digest']);
    expect(digest).toMatch(/^[0-9A-HJKMNP-TV-Z]{8}-[0-9A-HJKMNP-TV-Z]{8}$/);
    expect(text).toContain(`<code>${digest}</code>`);
    expect(parseDocument(text).payload.errors).toEqual({ page: { kind: 'failure', status: 500, digest } });
    expect(leakIn(text + JSON.stringify(headers))).toBeUndefined();
    expect(app.failures()).toHaveLength(1);
    expect(app.failures()[0]).toMatchObject({
      digest: digest.slice(0, 8),
      occurrence: digest.slice(9),
      origin: part,
      routeId: 'page',
    });
    expect(String(app.failures()[0]?.stack)).toContain('canary-9f2e');
    expect(app.lines.find((line) => line.msg === 'request')?.digest).toBe(digest);
  });

  it('is sent the same way in page data', async () => {
    const app = await startPages(
      within({
        loader: async () => {
          throw new CanaryError();
        },
      }),
    );
    const reply = await app.ask(toDataPath('/page'));
    expect(reply.status).toBe(500);
    const digest = reply.headers['x-error-digest'];
    expect(parseData(reply.text).payload).toMatchObject({
      data: { root: { site: 'Weir' } },
      errors: { page: { kind: 'failure', status: 500, digest } },
    });
    expect(leakIn(reply.text + JSON.stringify(reply.headers))).toBeUndefined();
  });

  it('in a layout replaces everything inside it', async () => {
    const app = await startPages(
      within(
        { loader: () => 'inner' },
        {
          loader: () => {
            throw new CanaryError();
          },
        },
      ),
    );
    const { status, text } = await app.ask('/page');
    expect(status).toBe(500);
    expect(text).not.toMatch(/<main>|shown/);
    expect(Object.keys(parseDocument(text).payload.errors ?? {})).toEqual(['root']);
  });

  it('in an inner route is recorded even if an outer route failed', async () => {
    const fail = (words: string) => () => {
      throw new CanaryError(words);
    };
    const app = await startPages(within({ loader: fail('canary inner') }, { loader: fail('canary outer') }));
    const { text } = await app.ask(toDataPath('/page'));
    expect(app.failures().map(({ routeId }) => routeId)).toEqual(['root', 'page']);
    expect(Object.keys(parseData(text).payload.errors ?? {})).toEqual(['root']);
  });

  it.each([
    ['a string', 'canary'],
    ['undefined', undefined],
    ['null', null],
    ['a frozen error', Object.freeze(new CanaryError())],
    [
      'an error that cannot be read',
      new Proxy(new CanaryError(), {
        get: () => {
          throw new CanaryError('canary get');
        },
      }),
    ],
    ['an object that imitates a page error', { kind: 'public', status: 418, message: 'canary' }],
    ['an object that imitates a redirect', { kind: 'redirect', status: 303, location: 'https://evil.example/canary' }],
    [
      'an error with toJSON',
      Object.assign(new Error('canary'), { toJSON: () => 'canary json', toString: () => 'canary string' }),
    ],
    ['an error with a status', Object.assign(new Error('canary'), { status: 404, statusCode: 404 })],
    ['a symbol', Symbol('canary')],
    ['a function', function canary() {}],
    ['a response', new Response('canary', { status: 200, headers: { 'X-Canary': 'canary' } })],
  ])('can be thrown as %s', async (_name, thrown) => {
    const app = await startPages(
      within({
        loader: () => {
          throw thrown;
        },
      }),
    );
    for (const path of ['/page', toDataPath('/page')]) {
      const { status, headers, text } = await app.ask(path);
      expect(status).toBe(500);
      expect(headers['x-error-digest']).toMatch(/^.{8}-.{8}$/);
      expect(headers.location).toBeUndefined();
      expect(leakIn(text + JSON.stringify(headers))).toBeUndefined();
    }
    expect(app.failures().length).toBeGreaterThan(0);
  });

  it('to encode data is a failure of its page, with the details only in the log', async () => {
    const app = await startPages(within({ loader: () => ({ canary: { callback: () => 1 } }) }), { deadlineMs: 60 });
    for (const path of ['/page', toDataPath('/page')]) {
      const { status, headers, text } = await app.ask(path);
      expect(status).toBe(500);
      expect(headers['x-error-digest']).toMatch(/^.{8}-.{8}$/);
      expect(leakIn(text + JSON.stringify(headers))).toBeUndefined();
    }
    expect(String(app.failures()[0]?.stack)).toContain('data.page.canary.callback is a function');
    await new Promise((resolve) => setTimeout(resolve, 90)); // after the deadline, which ended with the page
    expect(app.failures()).toHaveLength(2);
  });
});

describe('the deadline', () => {
  const never = () => new Promise<never>(() => {});
  const PARTS = ['guard', 'loader'].flatMap((part) =>
    [['the document', '/page', parseDocument] as const, ['page data', toDataPath('/page'), parseData] as const].map(
      ([place, path, parse]) => ({ part, place, path, parse }),
    ),
  );

  it.each(PARTS)(
    'ends a $part that never returns as a failure of its route, in $place',
    async ({ part, path, parse }) => {
      const app = await startPages(within({ [part]: never }), { deadlineMs: 50 });
      const { status, headers, text } = await app.ask(path);
      expect(status).toBe(500);
      expect(headers['cache-control']).toBe('no-store');
      const digest = String(headers['x-error-digest']);
      expect(digest).toMatch(/^.{8}-.{8}$/);
      expect(parse(text).payload).toMatchObject({
        data: { root: { site: 'Weir' } },
        errors: { page: { kind: 'failure', status: 500, digest } },
      });
      if (path === '/page') {
        expect(text).toContain('<h2>Weir</h2>');
        expect(text).toContain(`<code>${digest}</code>`);
      }
      expect(app.failures()).toHaveLength(1);
      expect(app.failures()[0]).toMatchObject({ digest: digest.slice(0, 8), origin: part, routeId: 'page' });
      expect(String(app.failures()[0]?.stack)).toMatch(/^PageTimeout: The page was not complete after 50 ms/);
      expect(leakIn(text + JSON.stringify(headers))).toBeUndefined();
    },
  );

  it("aborts the loader's signal, and counts one failure together with what the loader throws", async () => {
    const reasons: unknown[] = [];
    const app = await startPages(
      within({
        loader: async ({ signal }) => {
          await new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => {
              reasons.push(signal.reason);
              reject(new Error('stopped', { cause: signal.reason }));
            });
          });
        },
      }),
      { deadlineMs: 50 },
    );
    expect((await app.ask('/page')).status).toBe(500);
    expect(reasons).toMatchObject([{ name: 'PageTimeout' }]);
    expect(app.failures()).toHaveLength(1);
  });

  it("ends a guard and the layout's loader if neither returns", async () => {
    const app = await startPages(within({ guard: never }, { loader: never }), { deadlineMs: 50 });
    const { status, headers, text } = await app.ask(toDataPath('/page'));
    expect(status).toBe(500);
    expect(parseData(text).payload.errors).toEqual({
      root: { kind: 'failure', status: 500, digest: headers['x-error-digest'] },
    });
    expect(app.failures()).toHaveLength(1);
  });

  it('also ends the creation of a context that never returns', async () => {
    const app = await startPages(within({ guard: () => {}, loader: () => 1 }), {
      deadlineMs: 50,
      createContext: never,
    });
    for (const path of ['/page', toDataPath('/page')]) {
      const { status, headers } = await app.ask(path);
      expect(status).toBe(500);
      expect(headers['x-error-digest']).toMatch(/^.{8}-.{8}$/);
    }
    for (const { stack } of app.failures()) expect(String(stack)).toMatch(/^PageTimeout/);
  });

  it('affects only one request: the next one gets the page', async () => {
    let hangs = true;
    const app = await startPages(within({ loader: () => (hangs ? never() : 'there') }), { deadlineMs: 150 });
    expect((await app.ask('/page')).status).toBe(500);
    hangs = false;
    expect((await app.ask('/page')).text).toContain('shown');
  });
});

it('a rejected promise does not end a page while another loader is running', async () => {
  const unhandled: unknown[] = [];
  const listen = (reason: unknown): void => void unhandled.push(reason);
  process.on('unhandledRejection', listen);
  try {
    const app = await startPages(
      within(
        { loader: () => new Promise((resolve) => setTimeout(resolve, 60, 'slow')) },
        { loader: () => ({ site: 'Weir', deep: [new Map([['late', Promise.reject(new CanaryError())]])] }) },
      ),
    );
    const { status, text } = await app.ask('/page');
    expect(status).toBe(200);
    expect(parseDocument(text).late).toHaveLength(1);
    expect(leakIn(text)).toBeUndefined();
    expect(unhandled).toEqual([]);
  } finally {
    process.off('unhandledRejection', listen);
  }
});

it('shows an unknown path as 404 within the first layout', async () => {
  const app = await startPages(within({}));
  const { status, headers, text } = await app.ask('/nothing');
  expect(status).toBe(404);
  expect(headers['cache-control']).toBe('no-store');
  expect(text).toContain('<h2>Weir</h2>');
  expect(text).toContain('<section data-error="not-found">');
  expect(parseDocument(text).payload.routes).toEqual(['@frame', 'root', '@not-found']);
});
