import { renderToStaticMarkup } from 'react-dom/server';
import { type Location, matchRoutes, Outlet, useLocation, useMatches, useNavigation, useParams } from 'react-router';
import { describe, expect, it } from 'vitest';
import { type Engine, EngineContext, type ErrorPages } from '../../../../src/shared/engine/rendering/engine-context.ts';
import { useData } from '../../../../src/shared/engine/rendering/hooks.ts';
import { createRouteTree } from '../../../../src/shared/engine/routing/route-objects.ts';
import { RouterView } from '../../../../src/shared/engine/routing/router-view.tsx';
import { createStandIn, toMatches } from '../../../../src/shared/engine/routing/stand-in.ts';
import type { PagePayload } from '../../../../src/shared/engine/wire/payload.ts';

const page = async () => ({ default: Outlet });
const tree = createRouteTree([
  {
    id: 'root',
    page,
    children: [
      { id: 'order', path: '/orders/:id', page, children: [{ id: 'line', path: '/orders/:id/lines/:line', page }] },
      { id: 'fixed', path: '/fixed', page },
    ],
  },
]);
const LOCATION: Location = { pathname: '/orders/7', search: '?a=1', hash: '', state: null, key: 'default' } as Location;
const PAYLOAD: PagePayload = {
  build: 'b',
  routes: ['@frame', 'root', 'order'],
  params: { id: '7' },
  data: { '@frame': null, root: { site: 'Weir' }, order: { id: 7 } },
  styles: {},
};

function sayError({ error }: { error: { kind: string } }) {
  return <em>{error.kind}</em>;
}
const ERROR_PAGES: ErrorPages = {
  notFound: sayError,
  forbidden: sayError,
  unauthorized: sayError,
  public: sayError,
  failure: sayError,
};

function render(payload: PagePayload, views: Record<string, React.ComponentType>): string {
  const engine: Engine = {
    host: 'weir.example',
    errorPages: ERROR_PAGES,
    modules: new Map(Object.entries(views).map(([id, view]) => [id, { default: view }])),
    styles: new Map(),
    toPageError: (error) => error as never,
  };
  const ignore = async () => {};
  const calls = { navigate: ignore, fetch: ignore, revalidate: ignore, deleteBlocker: ignore };
  return renderToStaticMarkup(
    <EngineContext value={engine}>
      <RouterView router={createStandIn({ tree, payload, location: LOCATION, ...calls })} />
    </EngineContext>,
  );
}

describe('createStandIn', () => {
  it('shows a page like the router: data, params, location and matches', () => {
    const html = render(PAYLOAD, {
      root: function Root() {
        return (
          <main title={useData<{ site: string }>().site}>
            <Outlet />
          </main>
        );
      },
      order: function Order() {
        const matches = useMatches().map(({ id, pathname }) => `${id} ${pathname}`);
        return (
          <p>
            {[useParams().id, useData<{ id: number }>().id, useLocation().search, useNavigation().state, matches].join(
              '|',
            )}
          </p>
        );
      },
    });
    expect(html).toBe('<main title="Weir"><p>7|7|?a=1|idle|@frame /,root /,order /orders/7</p></main>');
  });
});

describe('toMatches', () => {
  it('gives each route its part of the path, and all params', () => {
    const matches = toMatches(
      tree,
      { routes: ['@frame', 'root', 'order', 'line'], params: { id: 'ä', line: '2' } },
      '/orders/%C3%A4/lines/2',
    );
    expect(matches.map(({ pathname }) => pathname)).toEqual(['/', '/', '/orders/%C3%A4', '/orders/%C3%A4/lines/2']);
    expect(matches.map(({ route }) => route.id)).toEqual(['@frame', 'root', 'order', 'line']);
    for (const match of matches) expect(match.params).toEqual({ id: 'ä', line: '2' });
  });

  it.each<[path: `/${string}`, pathname: string]>([
    ['/orders/:id', '/orders/7'],
    ['/files/*', '/files/a/b%2Bc'],
    ['/files/*', '/files'],
    ['/:lang?/about', '/about'],
    ['/:lang?/about', '/de/about'],
    ['/en?/about/:id', '/en/about/7'],
    ['/en?/about/:id', '/about/7'],
    ['/a/:b?', '/a'],
    ['/', '/'],
  ])('agrees with React Router about %s at %s', (path, pathname) => {
    const [match] = matchRoutes([{ id: 'page', path, caseSensitive: true }], pathname) ?? [];
    const own = toMatches(
      createRouteTree([{ id: 'page', path, page }]),
      { routes: ['page'], params: { ...match?.params } as Record<string, string> },
      pathname,
    ).at(-1);
    const { pathnameBase } = match ?? { pathnameBase: '' };
    expect(own).toMatchObject({ pathname, pathnameBase });
  });
});
