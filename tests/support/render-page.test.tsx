import { existsSync } from 'node:fs';
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

const toArgs = ({ url, params }: { url: string; params: LoaderArgs['params'] }): LoaderArgs => ({
  request: new Request(new URL(url, 'http://weir.example')),
  url: new URL(url, 'http://weir.example'),
  params,
  context: { fetch, log: console },
  signal: new AbortController().signal,
  isPrefetch: false,
});
const root = { loader: () => ({ name: 'Ada' }) };
const createVisit = (halves: Record<string, ServerPage<unknown, LoaderContext>>) =>
  createVisitPage({ ...table, pages: { root, order: null, ...halves }, toArgs });

it('visitPage() runs the guards and loaders of a page and its layouts, and renders their data', async () => {
  const calls: string[] = [];
  const visitPage = createVisit({
    root: { ...root, guard: () => void calls.push('guard') },
    order: {
      search: z.object({ page: z.coerce.number().default(1) }),
      loader: ({ params, request }) => ({ total: calls.push(`${params.id}, ${new URL(request.url).search}`) }),
    },
  });
  expect(await visitPage('/orders/7?tab=items&page=4')).toMatchObject({
    status: 200,
    html: expect.stringContaining('<main title="Ada"><p>2 of 7 on localhost, items-4</p></main>'),
  });
  expect(calls).toEqual(['guard', '7, ?tab=items&page=4']);
});

it('visitPage() renders control-flow responses inside the layout, and rejects with unexpected errors', async () => {
  const visit = (guard: () => never, path = '/orders/7') => createVisit({ order: { guard } })(path);
  const shown = (kind: string) => expect.stringContaining(`<main title="Ada"><section data-error="${kind}">`);
  expect(await visit(forbidden)).toMatchObject({ status: 403, html: shown('forbidden') });
  expect(await visit(forbidden, '/nowhere')).toMatchObject({ status: 404, html: shown('not-found') });
  expect(await visit(() => redirect('/orders/1'))).toEqual({ status: 303, html: '', redirect: '/orders/1' });
  const mistake = new RangeError('a mistake');
  const fail = () => {
    throw mistake;
  };
  await expect(visit(fail)).rejects.toThrow(mistake);
});

it("visitPage() opens the product's services, with its own DATA_DIR, unless the context has some", async () => {
  const said: string[] = [];
  type WithServices = LoaderContext & { readonly services?: { readonly total: number } };
  const visitPage = createVisitPage<WithServices, { env?: Record<string, string>; services?: { total: number } }>({
    ...table,
    pages: { root, order: { loader: ({ context }: LoaderArgs<WithServices>) => ({ total: context.services?.total }) } },
    createTestSettings: async () => ({ DATABASE_URL: 'of-tests' }),
    services: {
      async open({ dataDir, url }: { dataDir: string; url: string }) {
        said.push(existsSync(dataDir) ? `opened ${url}` : 'no folder');
        return { total: 3 };
      },
      close: ({ total }: { total: number }) => void said.push(`closed ${total}`),
    },
    toArgs({ url, params, env, services }) {
      const args = toArgs({ url, params });
      return {
        ...args,
        context: { ...args.context, settings: { dataDir: env.DATA_DIR, url: env.DATABASE_URL }, services },
      };
    },
  });
  expect((await visitPage('/orders/7')).html).toContain('<p>3 of 7');
  expect(said).toEqual(['opened of-tests', 'closed 3']);
  expect((await visitPage('/orders/7', { services: { total: 4 } })).html).toContain('<p>4 of 7');
  expect(said).toHaveLength(2);
});

const layouts = { root: { name: 'Ada' } };
it.each<[what: string, options: RenderPageOptions, status: number, html: RegExp, path?: string]>([
  [
    'a page in its document and layouts, with its params and search',
    { data: { total: 3 }, search: { page: 4 }, layouts, host: 'weir.example' },
    200,
    /^<!DOCTYPE html><html lang="en">.*<main title="Ada"><p>3 of 7 on weir\.example, items-4/s,
    '/orders/7?tab=items',
  ],
  ['a deferred value', { data: { state: Promise.resolve(' sent') } }, 200, / sent/],
  [
    'the result of an action',
    { data: {}, action: { action: 'order.save', status: 422, errors: { name: 'Too short.' } } },
    422,
    /Too short\./,
  ],
  ['a path without a page', {}, 404, /<h1>not-found<\/h1>/, '/nowhere'],
])('renderPage() renders %s', async (_what, options, status, html, path = '/orders/7') => {
  expect(await renderPage(path, options)).toMatchObject({ status, html: expect.stringMatching(html) });
});
