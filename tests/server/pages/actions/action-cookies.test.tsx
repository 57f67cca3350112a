import type { Request, Response } from 'express';
import session from 'express-session';
import { describe, expect, it } from 'vitest';
import {
  type ActionArgs,
  invalid,
  type LoaderArgs,
  type LoaderContext,
} from '../../../../src/server/pages/server-page.ts';
import { DATA, FORM, type PagesApp, type PagesAppOptions, parsePage, startPages } from '../../../support/pages-app.tsx';

declare module 'express-session' {
  interface SessionData {
    user: string;
  }
}

interface Context extends LoaderContext {
  readonly cookies: string;
  readonly response: Response;
}

/** Everything that a page can read cookies from. */
function readCookies({ request, context: { cookies, response } }: LoaderArgs<Context>) {
  const { headers, headersDistinct, rawHeaders } = response.req;
  const raw = rawHeaders.filter((_, index) => rawHeaders[index - 1]?.toLowerCase() === 'cookie' && index % 2 === 1);
  const texts = [
    request.headers.get('cookie'),
    cookies,
    headers.cookie,
    headersDistinct.cookie?.join('; '),
    raw.join('; '),
  ];
  return [...new Set(texts.map((text) => text ?? ''))];
}

/** Starts a page whose layout has the action, and a guard and a loader that note the cookies. */
async function start(act: (args: ActionArgs<Context>) => unknown, options: PagesAppOptions = {}) {
  const guards: unknown[] = [];
  const guard = (args: LoaderArgs<Context>) => void guards.push([args.request.method, ...readCookies(args)]);
  const app = await startPages(
    [
      {
        id: 'root',
        server: { guard, loader: readCookies, actions: { act } },
        children: [
          { id: 'cart', path: '/shop/cart' },
          { id: 'fixed', path: '/fixed', mode: 'static' },
        ],
      },
    ],
    { createContext: ({ request, response }) => ({ cookies: request.headers.cookie ?? '', response }), ...options },
  );
  return { app, guards };
}

async function post(app: PagesApp, headers: Record<string, string>, path = '/shop/cart') {
  const reply = await app.post(path, '_action=root.act', headers);
  return { status: reply.status, cookies: parsePage(reply.text).payload.data.root };
}

describe('cookies of an action', () => {
  const set = ({ context: { response } }: ActionArgs<Context>) => {
    response.cookie('theme', 'dark');
    response.append('Set-Cookie', 'session=new; Path=/; HttpOnly');
  };

  it.each<[string, Record<string, string>, (args: ActionArgs<Context>) => unknown, string?]>([
    ['data, with JavaScript', DATA, (args) => set(args) ?? { saved: true }],
    ['invalid()', FORM, (args) => set(args) ?? invalid({ errors: {} })],
    ['a failure', FORM, (args) => set(args) ?? Promise.reject(new Error('no payment'))],
    ['data, on a static page', FORM, (args) => set(args) ?? { saved: true }, '/fixed'],
    ['data, at a path without a page', FORM, (args) => set(args) ?? { saved: true }, '/nowhere'],
  ])('are read by the guards and loaders after it: %s', async (_, headers, act, path) => {
    const { app, guards } = await start(act);
    const { cookies } = await post(app, { ...headers, Cookie: 'lang=en; session=old' }, path);
    const now = 'lang=en; theme=dark; session=new';
    expect(guards).toEqual([
      ['POST', 'lang=en; session=old'],
      ['GET', now],
    ]);
    expect(cookies).toEqual([now]);
  });

  it('include those of steps and guards before it, which a browser gets too', async () => {
    const steps = [
      (_req: Request, res: Response, next: () => void) => {
        res.cookie('step', '1');
        next();
      },
    ];
    const { app } = await start(() => ({ saved: true }), { steps });
    expect(await post(app, DATA)).toEqual({ status: 200, cookies: ['step=1'] });
  });

  it.each([
    ['is added', '', ['a=1'], 'a=1'],
    ['replaces all of its name', 'a=1; b=2; a=3', ['a=4; Path=/'], 'b=2; a=4'],
    ['has any value', 'a=1', [' a = "x=y, z" ; Path=/', 'b=; Path=/'], 'a="x=y, z"; b='],
    ['without a name is ignored', 'a=1', ['', '=b', 'b', ';a=2'], 'a=1'],
    ['is deleted with Max-Age', 'a=1; b=2', ['a=1; Max-Age=0'], 'b=2'],
    ['is deleted with a negative Max-Age', 'a=1', ['a=1; max-age=-5; Path=/'], ''],
    ['is deleted with Expires', 'a=1; b=2', ['b=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT'], 'a=1'],
    ['stays until it expires', '', ['a=1; Expires=Thu, 01 Jan 2095 00:00:00 GMT'], 'a=1'],
    ['prefers Max-Age to Expires', '', ['a=1; Max-Age=9; Expires=Thu, 01 Jan 1970 00:00:00 GMT'], 'a=1'],
    ['ignores a Max-Age and a date that cannot be read', '', ['a=1; Max-Age=0x0; Expires=never'], 'a=1'],
    ['can be set and deleted again', 'a=1', ['a=2; Path=/', 'a=; Path=/; Max-Age=0'], ''],
    ['of this path', '', ['a=1; Path=/shop/cart', 'b=2; Path=/shop', 'c=3; Path=/shop/'], 'a=1; c=3; b=2'],
    [
      'of another path',
      'a=1',
      ['a=2; Path=/account', 'a=3; Path=/sho', 'a=4; Path=/shop/cart/1', 'a=5; Path=/Shop'],
      'a=1',
    ],
    [
      'without a path has that of the folder',
      '',
      ['a=1', 'b=2; Path=shop; Path=', 'c=3; Path=/x; Path=/shop'],
      'a=1; b=2; c=3',
    ],
    ['of a longer path is first, as in browsers', '', ['a=1; Path=/', 'a=2; Path=/shop'], 'a=2; a=1'],
    ['that is deleted at another path stays', '', ['a=1; Path=/', 'a=; Path=/shop; Max-Age=0'], 'a=1'],
    ['of this domain', '', ['a=1; Domain=example.com', 'b=2; Domain=.SHOP.example.com'], 'a=1; b=2'],
    [
      'of another domain',
      'a=1',
      ['a=2; Domain=other.example', 'a=3; Domain=op.example.com', 'a=4; Domain=a.shop.example.com'],
      'a=1',
    ],
    ['can move to the domain', 'a=1', ['a=2; Domain=example.com; Path=/', 'a=; Path=/; Max-Age=0'], 'a=2'],
  ])('follow the rules of browsers: a cookie %s', async (_, Cookie, lines, expected) => {
    const { app } = await start(({ context: { response } }) => response.setHeader('Set-Cookie', lines) && 'saved', {
      publicOrigins: ['http://shop.example.com'],
    });
    const { cookies } = await post(app, { ...DATA, Host: 'shop.example.com', ...(Cookie && { Cookie }) });
    expect(cookies).toEqual([expected]);
  });
});

const steps = [session({ name: 'sid', secret: 'weir', resave: false, saveUninitialized: false })];

async function startSessions() {
  const app = await startPages(
    [
      {
        id: 'root',
        server: {
          loader: ({ context }) => context.user,
          actions: {
            enter: ({ context, form }) => context.enter(form.get('name')),
            refuse: async ({ context }) => (await context.enter('ada')) ?? invalid({ errors: {} }),
            leave: ({ context }) => context.leave(),
          },
        },
        children: [{ id: 'page', path: '/page' }],
      },
    ],
    {
      steps,
      createContext: ({ request: { session: own }, response: { req } }) => ({
        user: own?.user ?? 'nobody',
        async enter(name: string) {
          await new Promise((resolve) => own.regenerate(resolve));
          req.session.user = name;
        },
        leave: () => new Promise<void>((resolve) => own.destroy(() => resolve())),
      }),
    },
  );
  return async (body: string, headers: Record<string, string>) => {
    const reply = await app.post('/page', body, headers);
    return {
      user: parsePage(reply.text).payload.data.root,
      cookie: reply.headers['set-cookie']?.[0]?.split(';')[0] ?? '',
    };
  };
}

it('a session of express-session, whose cookie is written with the headers is that of the action in the page after it', async () => {
  const ask = await startSessions();
  const entered = await ask('_action=root.enter&name=ada', DATA);
  expect(entered).toEqual({ user: 'ada', cookie: expect.stringMatching(/^sid=s/) });
  const changed = await ask('_action=root.enter&name=grace', { ...DATA, Cookie: entered.cookie });
  expect(changed.user).toBe('grace');
  expect(changed.cookie).not.toBe(entered.cookie);
  expect((await ask('_action=root.leave', { ...DATA, Cookie: changed.cookie })).user).toBe('nobody');
  expect((await ask('_action=root.refuse', FORM)).user).toBe('ada');
});
