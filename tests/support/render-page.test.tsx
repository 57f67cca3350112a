import { Outlet, useParams, useSearchParams } from 'react-router';
import { describe, expect, it } from 'vitest';
import type { EngineContext, LoaderArgs, ServerPage } from '../../src/server/engine/pages/server-page.ts';
import { Await } from '../../src/shared/engine/rendering/await.tsx';
import type { DocumentProps, ErrorPageProps } from '../../src/shared/engine/rendering/engine-context.ts';
import { useActionResult, useData, useHost, usePageError } from '../../src/shared/engine/rendering/hooks.ts';
import { forbidden, redirect } from '../../src/shared/engine/routing/control-flow.ts';
import { defineRoutes, type PageProps } from '../../src/shared/engine/routing/routes.ts';
import { createRenderPage, createVisitPage } from './render-page.tsx';

interface OrderData {
  total: number;
  state?: Promise<string>;
}

function Root() {
  const user = useData<{ name: string } | null>();
  return (
    <main title={user?.name}>
      <Outlet />
    </main>
  );
}

function Order({ data }: PageProps<OrderData>) {
  const { id } = useParams();
  const [search] = useSearchParams();
  const outcome = useActionResult('order.save');
  return (
    <p>
      {data.total} of {id} on {useHost()}, {search.get('tab')}
      {data.state && (
        <Await value={data.state} fallback="…" failed={() => 'lost'}>
          {(state) => state}
        </Await>
      )}
      {outcome?.errors?.name}
    </p>
  );
}

const ENDS: Record<string, () => never> = {
  forbidden,
  redirect: () => redirect('/orders/1'),
  mistake: () => {
    throw new RangeError('a mistake');
  },
};

function Ending() {
  return ENDS[useParams().how ?? '']?.();
}

function TestDocument({ lang, head, children }: DocumentProps) {
  return (
    <html lang={lang}>
      <head>{head}</head>
      <body>{children}</body>
    </html>
  );
}

function SayKind({ error }: ErrorPageProps) {
  return <h1>{error.kind}</h1>;
}

const routes = defineRoutes([
  {
    id: 'root',
    page: async () => ({ default: Root }),
    children: [
      { id: 'order', path: '/orders/:id', page: async () => ({ default: Order }) },
      { id: 'ending', path: '/ends/:how', page: async () => ({ default: Ending }) },
      {
        id: 'own',
        path: '/own',
        page: async () => ({ default: Ending, ErrorBoundary: () => `own: ${usePageError().message}` }),
      },
    ],
  },
]);

const table = {
  routes,
  document: TestDocument,
  errorPages: { notFound: SayKind, forbidden: SayKind, unauthorized: SayKind, public: SayKind, failure: SayKind },
};
const renderPage = createRenderPage(table);

describe('visitPage', () => {
  function createVisit(halves: Record<string, ServerPage<unknown, EngineContext>>) {
    const toArgs = ({ url, params }: { url: string; params: LoaderArgs['params'] }): LoaderArgs => ({
      request: new Request(new URL(url, 'http://weir.example')),
      url: new URL(url, 'http://weir.example'),
      params,
      context: { fetch, log: console },
      signal: new AbortController().signal,
      isPrefetch: false,
    });
    return createVisitPage({ ...table, pages: { root: null, order: null, ...halves }, toArgs });
  }

  it('runs the guards and loaders of a page and its layouts, and renders their data', async () => {
    const calls: string[] = [];
    const visitPage = createVisit({
      root: { guard: () => void calls.push('guard'), loader: async () => ({ name: 'Ada' }) },
      order: {
        loader: ({ params, request }) => ({ total: calls.push(`${params.id}, ${new URL(request.url).search}`) }),
      },
    });
    const { status, html } = await visitPage('/orders/7?tab=items');
    expect(status).toBe(200);
    expect(html).toContain('<main title="Ada"><p>2 of 7 on localhost, items</p></main>');
    expect(calls).toEqual(['guard', '7, ?tab=items']);
  });

  it('renders control-flow responses, and rejects with unexpected errors', async () => {
    const end = (guard: () => void) => createVisit({ order: { guard, loader: () => ({ total: 1 }) } })('/orders/7');
    expect(await end(forbidden)).toMatchObject({ status: 403, html: expect.stringContaining('<h1>forbidden</h1>') });
    expect(await end(() => redirect('/orders/1'))).toEqual({ status: 303, html: '', redirect: '/orders/1' });
    await expect(end(ENDS.mistake as () => never)).rejects.toThrow(new RangeError('a mistake'));
    expect(await createVisit({})('/nowhere')).toMatchObject({ status: 404 });
  });

  it.each([
    ['a guard', { order: { guard: forbidden } }, '/orders/7', 'forbidden'],
    ['a loader', { order: { loader: forbidden } }, '/orders/7', 'forbidden'],
    ['a path without a page', {}, '/nowhere', 'not-found'],
  ])('renders %s inside the layout, with the data of the layout', async (_, halves, path, kind) => {
    const visitPage = createVisit({ root: { loader: () => ({ name: 'Ada' }) }, ...halves });
    expect((await visitPage(path)).html).toContain(`<main title="Ada"><h1>${kind}</h1></main>`);
  });
});

describe('renderPage', () => {
  it('renders a page in its document and layouts, with its params and search', async () => {
    const { status, html } = await renderPage('/orders/7?tab=items', {
      data: { total: 3 },
      layouts: { root: { name: 'Ada' } },
      host: 'weir.example',
    });
    expect(status).toBe(200);
    expect(html).toMatch(/^<!DOCTYPE html><html lang="en">/);
    expect(html).toContain('<main title="Ada"><p>3 of 7 on weir.example, items</p></main>');
  });

  it('waits for deferred values, and renders the fallback of one that failed', async () => {
    const state = new Promise<string>((resolve) => setTimeout(resolve, 20, 'sent'));
    expect((await renderPage('/orders/7', { data: { total: 3, state } })).html).toContain('sent');
    const lost = Promise.reject(new Error('no connection'));
    expect((await renderPage('/orders/7', { data: { total: 3, state: lost } })).html).toContain('lost');
  });

  it('renders the result of an action', async () => {
    const action = { action: 'order.save', status: 422, errors: { name: 'Too short.' } };
    const { status, html } = await renderPage('/orders/7', { data: { total: 3 }, action });
    expect([status, html]).toEqual([422, expect.stringContaining('Too short.')]);
  });

  it('renders an error with the error boundary of the page, otherwise with the error page', async () => {
    const forbiddenPage = await renderPage('/orders/7', { error: { kind: 'forbidden', status: 403 } });
    expect([forbiddenPage.status, forbiddenPage.html]).toEqual([403, expect.stringContaining('<h1>forbidden</h1>')]);
    const own = await renderPage('/own', { error: { kind: 'public', status: 409, message: 'Taken.' } });
    expect([own.status, own.html]).toEqual([409, expect.stringContaining('own: Taken.')]);
    const nothing = await renderPage('/nowhere');
    expect([nothing.status, nothing.html]).toEqual([404, expect.stringContaining('<h1>not-found</h1>')]);
  });

  it('renders control-flow responses of components, and rejects with unexpected errors', async () => {
    expect(await renderPage('/ends/forbidden')).toMatchObject({ status: 403 });
    expect(await renderPage('/ends/redirect')).toEqual({ status: 303, html: '', redirect: '/orders/1' });
    await expect(renderPage('/ends/mistake')).rejects.toThrow(new RangeError('a mistake'));
  });

  it('rejects data that cannot be sent to the browser', async () => {
    await expect(renderPage('/orders/7', { data: { total: () => 3 } })).rejects.toThrow(/total|function/i);
  });
});
