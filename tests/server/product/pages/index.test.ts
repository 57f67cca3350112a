import { describe, expect, it } from 'vitest';
import type { RouteDefinition } from '#engine';
import { routes } from '#product/routes.tsx';
import { visitPage } from '../../../support/product/visit-page.ts';

const rendered = new Map<string, ReturnType<typeof visitPage>>();

/** Renders a page once for all tests. */
function visitOnce(path: string): ReturnType<typeof visitPage> {
  const page = rendered.get(path) ?? visitPage(path);
  rendered.set(path, page);
  return page;
}

function listPaths(table: readonly RouteDefinition[]): string[] {
  return table.flatMap(({ path, children = [] }) => [...(path ? [path] : []), ...listPaths(children)]);
}

/** Pages that do not render successfully, on purpose. */
const ENDS = [
  '/tour/fail/loader',
  '/tour/fail/render',
  '/tour/fail/unauthorized',
  '/tour/fail/not-found',
  '/tour/late-not-found',
  '/tour/late-redirect',
  '/tour/layout/castle-in-the-air',
];
const PATHS = listPaths(routes)
  .map((path) => path.replace(':tab', 'arch'))
  .filter((path) => !ENDS.includes(path));

describe('pages', () => {
  it('link only to pages that exist', async () => {
    const links = new Set<string>();
    for (const path of PATHS) {
      for (const [, href = ''] of (await visitOnce(path)).html.matchAll(/<a [^>]*href="([^"]*)"/g)) links.add(href);
    }
    const paths = [...links].map((href) => href.replace(/[?#].*$/, ''));
    const own = paths.filter((path) => path !== '' && !/^\/(?:api|desk)\b/.test(path) && !ENDS.includes(path));
    const dead: string[] = [];
    for (const path of own) if ((await visitOnce(path)).status === 404) dead.push(path);
    expect(dead).toEqual([]);
  });

  it('show deferred values in place, and the message of the rejected one', async () => {
    const { html } = await visitOnce('/tour/streaming');
    expect(html).toContain('187 cm');
    expect(html).toContain('This gauge is out of order.');
  });

  it('do not prefetch the pages that fail', async () => {
    const { html } = await visitOnce('/tour/failures');
    const kinds = [...html.matchAll(/href="\/tour\/(?:fail\/|late-)[^>]*data-link="(\w+)"/g)].map(([, kind]) => kind);
    expect(kinds).toHaveLength(12);
    expect(new Set(kinds)).toEqual(new Set(['none']));
  });
});
