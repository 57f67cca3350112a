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
import { createRenderPage, createVisitPage } from './render-page.tsx';

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

it('renderPage() renders a page in its document and layouts, with its params, search and deferred values', async () => {
  const state = new Promise<string>((resolve) => setTimeout(resolve, 20, ' sent'));
  const page = await renderPage('/orders/7?tab=items', {
    data: { total: 3, state },
    search: { page: 4 },
    layouts: { root: { name: 'Ada' } },
    host: 'weir.example',
  });
  expect(page.status).toBe(200);
  expect(page.html).toMatch(/^<!DOCTYPE html><html lang="en">/);
  expect(page.html).toContain('<main title="Ada"><p>3 of 7 on weir.example, items-4');
  expect(page.html).toContain(' sent');
  const lost = Promise.reject(new Error('no connection'));
  expect((await renderPage('/orders/7', { data: { total: 3, state: lost } })).html).toContain('lost');
});

it('renderPage() renders the result of an action, and errors', async () => {
  const action = { action: 'order.save', status: 422, errors: { name: 'Too short.' } };
  const shown = [
    [await renderPage('/orders/7', { data: { total: 3 }, action }), 422, 'Too short.'],
    [await renderPage('/orders/7', { error: { kind: 'forbidden', status: 403 } }), 403, '<h1>forbidden</h1>'],
    [await renderPage('/nowhere'), 404, '<h1>not-found</h1>'],
  ] as const;
  for (const [page, status, text] of shown) expect(page).toMatchObject({ status, html: expect.stringContaining(text) });
});

it('renderPage() names the data of layouts that a page was rendered without', async () => {
  const Layout = ({ data }: PageProps<{ count: number }>) => <main>{data.count}</main>;
  const layout = defineRoutes([
    {
      id: 'root',
      page: async () => ({ default: Layout }),
      children: [{ id: 'home', path: '/', page: async () => ({ default: Root }) }],
    },
  ]);
  const render = createRenderPage({ routes: layout, document: TestDocument, errorPages: TEST_ERROR_PAGES });
  await expect(render('/')).rejects.toThrow('If a layout has a loader, pass its data: layouts: { root: … }.');
});
