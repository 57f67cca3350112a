import { setTimeout as sleep } from 'node:timers/promises';
import { Outlet, useParams, useSearchParams } from 'react-router';
import { expect, it } from 'vitest';
import * as z from 'zod';
import type { LoaderArgs, LoaderContext, ServerPage } from '../../src/server/pages/server-page.ts';
import { Await } from '../../src/shared/rendering/await.tsx';
import { useActionResult, useData, useHost, useSearch } from '../../src/shared/rendering/hooks.ts';
import { forbidden, redirect } from '../../src/shared/routing/control-flow.ts';
import type { PageProps } from '../../src/shared/routing/page-props.ts';
import { defineRoutes } from '../../src/shared/routing/routes.ts';
import { TEST_ERROR_PAGES, TestDocument } from './pages-app.tsx';
import { createRenderPage, createVisitPage, type RenderPageOptions } from './render-page.tsx';

function Root() {
  const user = useData<{ name: string } | null>();
  return (
    <main title={user?.name}>
      <Outlet />
    </main>
  );
}

function Order({ data }: PageProps<{ total: number; state?: Promise<string> }>) {
  const [search] = useSearchParams();
  const parsed = useSearch() as { page?: number } | undefined;
  return (
    <p>
      {data.total} of {useParams().id} on {useHost()}, {search.get('tab')}-{parsed?.page}
      {data.state && (
        <Await value={data.state} fallback="…" failed={() => 'lost'}>
          {(state) => state}
        </Await>
      )}
      {useActionResult('order.save')?.errors?.name}
    </p>
  );
}

const routes = defineRoutes([
  {
    id: 'root',
    page: async () => ({ default: Root }),
    children: [{ id: 'order', path: '/orders/:id', page: async () => ({ default: Order }) }],
  },
]);

const table = { routes, document: TestDocument, errorPages: TEST_ERROR_PAGES };
const renderPage = createRenderPage(table);

function createVisit(halves: Record<string, ServerPage<unknown, LoaderContext>>) {
  const toArgs = ({ url, params }: { url: string; params: LoaderArgs['params'] }): LoaderArgs => ({
    request: new Request(new URL(url, 'http://weir.example')),
    url: new URL(url, 'http://weir.example'),
    params,
    context: { fetch, log: console },
    signal: new AbortController().signal,
    isPrefetch: false,
  });
  return createVisitPage({
    ...table,
    pages: { root: { loader: () => ({ name: 'Ada' }) }, order: null, ...halves },
    toArgs,
  });
}

it('visitPage() runs the guards and loaders of a page and its layouts, and renders their data', async () => {
  const calls: string[] = [];
  const visitPage = createVisit({
    root: { guard: () => void calls.push('guard'), loader: async () => ({ name: 'Ada' }) },
    order: {
      search: z.object({ page: z.coerce.number().default(1) }),
      loader: ({ params, request }) => ({ total: calls.push(`${params.id}, ${new URL(request.url).search}`) }),
    },
  });
  const { status, html } = await visitPage('/orders/7?tab=items&page=4');
  expect([status, html]).toEqual([
    200,
    expect.stringContaining('<main title="Ada"><p>2 of 7 on localhost, items-4</p></main>'),
  ]);
  expect(calls).toEqual(['guard', '7, ?tab=items&page=4']);
});

it.each([
  ['a guard', { order: { guard: forbidden } }, '/orders/7', 403, 'forbidden'],
  ['a loader', { order: { loader: forbidden } }, '/orders/7', 403, 'forbidden'],
  ['a path without a page', {}, '/nowhere', 404, 'not-found'],
])('visitPage() renders what %s threw inside the layout', async (_, halves, path, status, kind) => {
  const page = await createVisit(halves)(path);
  expect(page).toMatchObject({
    status,
    html: expect.stringMatching(`<main title="Ada"><section data-error="${kind}">`),
  });
});

it('visitPage() returns redirects, and rejects with unexpected errors', async () => {
  const end = (guard: () => never) => createVisit({ order: { guard } })('/orders/7');
  expect(await end(() => redirect('/orders/1'))).toEqual({ status: 303, html: '', redirect: '/orders/1' });
  const mistake = new RangeError('a mistake');
  const fail = () => {
    throw mistake;
  };
  await expect(end(fail)).rejects.toThrow(mistake);
});

const data = { total: 3 };
it.each<[what: string, path: string, toOptions: () => RenderPageOptions, status: number, html: RegExp]>([
  [
    'a page in its document and layouts, with its params and search',
    '/orders/7?tab=items',
    () => ({ data, search: { page: 4 }, layouts: { root: { name: 'Ada' } }, host: 'weir.example' }),
    200,
    /^<!DOCTYPE html><html lang="en">.*<main title="Ada"><p>3 of 7 on weir\.example, items-4/s,
  ],
  ['a deferred value', '/orders/7', () => ({ data: { ...data, state: sleep(20, ' sent') } }), 200, / sent/],
  ['one that fails', '/orders/7', () => ({ data: { ...data, state: Promise.reject(new Error('no')) } }), 200, /lost/],
  [
    'the result of an action',
    '/orders/7',
    () => ({ data, action: { action: 'order.save', status: 422, errors: { name: 'Too short.' } } }),
    422,
    /Too short\./,
  ],
  ['an error', '/orders/7', () => ({ error: { kind: 'forbidden', status: 403 } }), 403, /<h1>forbidden<\/h1>/],
  ['a path without a page', '/nowhere', () => ({}), 404, /<h1>not-found<\/h1>/],
])('renderPage() renders %s', async (_what, path, toOptions, status, html) => {
  expect(await renderPage(path, toOptions())).toMatchObject({ status, html: expect.stringMatching(html) });
});

it('renderPage() names the data of layouts that a page was rendered without', async () => {
  const Layout = ({ data }: PageProps<{ count: number }>) => <main>{data.count}</main>;
  const page = async () => ({ default: Layout });
  const routes = defineRoutes([{ id: 'root', page, children: [{ id: 'home', path: '/', page }] }]);
  const render = createRenderPage({ ...table, routes });
  await expect(render('/')).rejects.toThrow('If a layout has a loader, pass its data: layouts: { root: … }.');
});
