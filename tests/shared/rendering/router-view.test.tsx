import { type ComponentType, createElement, type ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import {
  createMemoryRouter,
  createPath,
  type DataRouter,
  Link,
  NavLink,
  Outlet,
  type Path,
  RouterProvider,
  type To,
  useFetcher,
  useFetchers,
  useHref,
  useLoaderData,
  useLocation,
  useMatches,
  useNavigate,
  useNavigation,
  useNavigationType,
  useOutletContext,
  useParams,
  useRevalidator,
  useRouteError,
  useRouteLoaderData,
  useSubmit,
} from 'react-router';
import { describe, expect, it } from 'vitest';
import { type Engine, EngineContext } from '../../../src/shared/rendering/engine-context.ts';
import { usePageError } from '../../../src/shared/rendering/hooks.ts';
import { toShownError } from '../../../src/shared/rendering/page-error.ts';
import { RouterView } from '../../../src/shared/rendering/router-view.tsx';
import { createRouteTree } from '../../../src/shared/routing/route-objects.ts';
import type { PageModule } from '../../../src/shared/routing/routes.ts';
import { TEST_ERROR_PAGES } from '../../support/pages-app.tsx';

const SECRET = 'postgres://admin:hunter2@db';
const page = async () => ({ default: Outlet });
const tree = createRouteTree([
  {
    id: 'root',
    page,
    children: [
      { id: 'shelf', path: '/shelves/:shelf', page, children: [{ id: 'book', path: '/shelves/:shelf/:book', page }] },
    ],
  },
]);

const Shelf = () => <Outlet context="from the shelf" />;

function createRouter(errors?: Record<string, unknown>): DataRouter {
  return createMemoryRouter(tree.objects, {
    initialEntries: ['/shelves/größe%20%25/7?a=1#b'],
    hydrationData: {
      loaderData: { '@frame': null, root: 'the root', shelf: 'the shelf', book: 'the book' },
      errors: errors ?? null,
    } as never, // React Router's type does not accept null
  });
}

function render(router: DataRouter, modules: Record<string, PageModule>): string {
  const engine: Engine = {
    host: 'weir.example',
    errorPages: TEST_ERROR_PAGES,
    document: () => null,
    modules: new Map(Object.entries({ root: { default: Outlet }, shelf: { default: Outlet }, ...modules })),
    styles: new Map(),
    toPageError: toShownError,
  };
  return renderToStaticMarkup(
    <EngineContext value={engine}>
      <RouterView router={router} />
    </EngineContext>,
  );
}

function renderByReactRouter(router: DataRouter, book: ComponentType): string {
  const routes = router.routes;
  for (let [route] = routes; route; [route] = route.children ?? []) route.element = <Shelf />;
  const leaf = routes[0]?.children?.[0]?.children?.[0]?.children?.[0];
  if (leaf) leaf.element = createElement(book);
  return renderToStaticMarkup(<RouterProvider router={router} />);
}

/** Does what `createBrowserHistory` does, which needs a window. */
function spellAsBrowser(to: To): Path {
  const { pathname, search, hash } = new URL(typeof to === 'string' ? to : createPath(to), 'http://weir.example');
  return { pathname, search, hash };
}

describe('RouterView', () => {
  it.each(['with URLs encoded as by a browser', 'with URLs as they are'])(
    "gives hooks and links what React Router's own provider gives them, %s",
    (spelling) => {
      function Book() {
        const [navigate, submit, fetcher] = [useNavigate(), useSubmit(), useFetcher()];
        const told = [
          ...[useParams(), useLocation(), useLoaderData(), useRouteLoaderData('shelf'), useNavigation()],
          ...[useNavigationType(), useRevalidator().state, useFetchers(), fetcher.state, useOutletContext()],
          ...[typeof navigate, typeof submit, useMatches(), useHref('.'), useHref('../8'), useHref('..')],
        ];
        return (
          <p title={JSON.stringify(told)}>
            <Link to="notes?a=1">n</Link>
            <NavLink to="/shelves/gr%C3%B6%C3%9Fe%20%25/7">7</NavLink> <NavLink to="/shelves">all</NavLink>
          </p>
        );
      }
      const router = createRouter();
      if (spelling === 'with URLs encoded as by a browser') router.encodeLocation = spellAsBrowser;
      const html = render(router, { shelf: { default: Shelf }, book: { default: Book } });
      expect(html).toBe(renderByReactRouter(router, Book));
      expect(html).toMatch(/größe %&quot;.*the book.*from the shelf.*notes\?a=1/);
    },
  );

  it.each([
    ['an error with a message', new Error(SECRET)],
    ['an object', { message: SECRET, stack: SECRET, kind: 'other' }],
  ])('reveals nothing about %s except that it happened, even to the error boundary', (_name, thrown) => {
    const boundary = (): ReactNode => (
      <aside>
        {usePageError().kind} {JSON.stringify(useRouteError())}
      </aside>
    );
    const modules = { book: { default: () => <p>never</p>, ErrorBoundary: boundary } };
    const html = render(createRouter({ book: thrown }), modules);
    expect(html).toMatch(/^<aside>failure /);
    expect(html).not.toContain('hunter2');
  });
});
