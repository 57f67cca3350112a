import { text } from 'node:stream/consumers';
import { prerenderToNodeStream } from 'react-dom/static';
import type { Location } from 'react-router';
import { describe, expect, it } from 'vitest';
import { createMatcher } from '../../../../src/server/engine/pages/match-page.ts';
import type { ServerPage } from '../../../../src/server/engine/pages/server-page.ts';
import type { AppContext } from '../../../../src/server/product/context.ts';
import { pages } from '../../../../src/server/product/pages/index.ts';
import { routes as deskRoutes } from '../../../../src/shared/desk/routes.tsx';
import { type Engine, EngineContext } from '../../../../src/shared/engine/engine-context.ts';
import { toShownError } from '../../../../src/shared/engine/page-error.ts';
import { createRouteTree } from '../../../../src/shared/engine/route-objects.ts';
import { RouterView } from '../../../../src/shared/engine/router-view.tsx';
import type { PageModule } from '../../../../src/shared/engine/routes.ts';
import { createStandIn } from '../../../../src/shared/engine/stand-in.ts';
import { errorPages } from '../../../../src/shared/product/error-pages.tsx';
import { routes } from '../../../../src/shared/product/routes.tsx';
import { loaderArgs } from '../../../support/product/page-args.ts';

const tree = createRouteTree(routes);
const matchPage = createMatcher(tree);
const matchDesk = createMatcher(createRouteTree(deskRoutes));
const halves: Readonly<Record<string, ServerPage<unknown, AppContext> | null>> = pages;

const rendered = new Map<string, Promise<string>>();

/** A page whole, rendered once for all tests. */
function renderOnce(pathname: string): Promise<string> {
  const page = rendered.get(pathname) ?? renderPage(pathname);
  rendered.set(pathname, page);
  return page;
}

/** Renders from the loaders of the page's branch, as the tables have them. */
async function renderPage(pathname: string): Promise<string> {
  const match = matchPage(pathname);
  if (!match) throw new Error(`No page has the path ${pathname}.`);
  const { ids, params } = match;
  const data: Record<string, unknown> = {};
  const modules = new Map<string, PageModule>();
  for (const id of ids) {
    const page = tree.definitions.get(id)?.page;
    if (page) modules.set(id, await page());
  }
  // After the modules, which may take long: a late value that fails has to be looked at by then.
  for (const id of ids) data[id] = await halves[id]?.loader?.(loaderArgs({ params: params as Record<string, string> }));
  const location: Location = { pathname, search: '', hash: '', state: null, key: 'default', mask: undefined };
  const rejectNavigation = () => Promise.reject(new Error('A test page does not navigate.'));
  const router = createStandIn(tree, { build: 'test', routes: ids, params, data, styles: {} }, location, {
    navigate: rejectNavigation,
    fetch: rejectNavigation,
    revalidate: rejectNavigation,
    deleteBlocker: () => {},
  });
  const engine: Engine = { host: 'weir.example', errorPages, modules, styles: new Map(), toPageError: toShownError };
  const { prelude } = await prerenderToNodeStream(
    <EngineContext value={engine}>
      <RouterView router={router} />
    </EngineContext>,
  );
  return text(prelude);
}

/** Pages that end otherwise while they are rendered or loaded. */
const ENDS = ['/tour/fail/loader', '/tour/fail/render', '/tour/fail/unauthorized', '/tour/fail/not-found'];
const PATHS = [...tree.definitions.values()]
  .flatMap(({ path }) => path ?? [])
  .map((path) => path.replace(':tab', 'arch'))
  .filter((path) => !ENDS.includes(path));

describe('pages', () => {
  it.each(PATHS)('%s has a title, one heading and one main landmark', async (path) => {
    const html = await renderOnce(path);
    expect(html.match(/<title>[^<]+<\/title>/g)).toHaveLength(1);
    expect(html.match(/<h1/g)).toHaveLength(1);
    expect(html.match(/<main/g)).toHaveLength(1);
  });

  it('leads to pages that are there, from every link', async () => {
    const links = new Set<string>();
    for (const path of PATHS) {
      for (const [, href = ''] of (await renderOnce(path)).matchAll(/<a [^>]*href="([^"]*)"/g)) links.add(href);
    }
    const dead = [...links].filter((href) => {
      const path = href.replace(/[?#].*$/, '');
      return path !== '' && !matchPage(path) && !matchDesk(path);
    });
    expect(dead).toEqual([]);
  });

  it('shows late values in their places, and the words of the one that is refused', async () => {
    const html = await renderOnce('/tour/streaming');
    expect(html).toContain('187<!-- --> cm');
    expect(html).toContain('This gauge is out of order.');
  });

  it('prefetches none of the pages that fail', async () => {
    const html = await renderOnce('/tour/failures');
    const kinds = [...html.matchAll(/href="\/tour\/(?:fail\/|late-)[^>]*data-link="(\w+)"/g)].map(([, kind]) => kind);
    expect(kinds).toHaveLength(12);
    expect(new Set(kinds)).toEqual(new Set(['none']));
  });
});
