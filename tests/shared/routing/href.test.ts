import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMatcher } from '../../../src/server/pages/match-page.ts';
import { spellPath } from '../../../src/server/request/paths.ts';
import { createHref } from '../../../src/shared/routing/href.ts';
import { createRouteTree } from '../../../src/shared/routing/route-objects.ts';
import { defineRoutes } from '../../../src/shared/routing/routes.ts';

const page = async () => ({ default: () => null });
const routes = defineRoutes([
  {
    id: 'root',
    page,
    children: [
      { id: 'home', path: '/', page },
      { id: 'orders', path: '/orders', page },
      { id: 'order', path: '/orders/:id', page, children: [] },
      { id: 'item', path: '/orders/:order/items/:item', page },
      { id: 'about', path: '/about/:lang?', page },
      { id: 'files', path: '/files/*', page },
      { id: 'size', path: '/größe', page },
    ],
  },
  { id: 'outside', path: '/outside', page },
]);
const href = createHref<typeof routes>();
const matchPage = createMatcher(createRouteTree(routes));

describe('href', () => {
  it('returns the URL of a page', () => {
    expect(href('/')).toBe('/');
    expect(href('/orders/:id', { id: 7 })).toBe('/orders/7');
    expect(href('/orders/:order/items/:item', { order: 'a', item: 'b' })).toBe('/orders/a/items/b');
    expect(href('/about/:lang?')).toBe('/about');
    expect(href('/about/:lang?', { lang: 'de' })).toBe('/about/de');
    expect(href('/files/*', { '*': 'a b/c.txt' })).toBe('/files/a%20b/c.txt');
  });

  it('adds a search and a hash', () => {
    const search = { page: 2, tag: ['a&b', 'c'], all: true, none: undefined, nil: null };
    expect(href('/orders', { search, hash: 'ein s' })).toBe('/orders?page=2&tag=a%26b&tag=c&all=true#ein%20s');
    expect(href('/orders/:id', { id: 7 }, { search: new URLSearchParams('a=1') })).toBe('/orders/7?a=1');
    expect(href('/orders', { search: {} })).toBe('/orders');
    expect(href('/orders', { search: new URLSearchParams() })).toBe('/orders');
  });

  it('normalizes paths like the server, so that no link is redirected', () => {
    expect(href('/größe')).toBe('/gr%C3%B6%C3%9Fe');
    expect(href('/orders/:id', { id: "a:b@c$d&e+f,g;h=i!'()~" })).toBe("/orders/a:b@c$d&e+f,g;h=i!'()~");
    fc.assert(
      fc.property(fc.array(fc.nat(0xffff), { minLength: 1 }), (codes) => {
        const id = String.fromCharCode(...codes);
        let path: string;
        try {
          path = href('/orders/:id', { id });
        } catch (error) {
          expect(error).toBeInstanceOf(TypeError);
          return;
        }
        expect(spellPath(path)).toEqual({ path });
        expect(matchPage(path)).toMatchObject({ pattern: '/orders/:id', params: { id } });
      }),
      { numRuns: 100 },
    );
  });

  it.each(['', '.', '..', 'a/b', 'a\\b', 'a\nb', '\ud800'])('rejects %j, which no path can contain', (id) => {
    expect(() => href('/orders/:id', { id })).toThrow(
      /^href\('\/orders\/:id', …\) was given .*, which cannot be a part of a path\. Put it into the search/,
    );
  });
});
