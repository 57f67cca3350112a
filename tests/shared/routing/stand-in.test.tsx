import { matchRoutes, Outlet } from 'react-router';
import { expect, it } from 'vitest';
import { createRouteTree } from '../../../src/shared/routing/route-objects.ts';
import { toMatches } from '../../../src/shared/routing/stand-in.ts';

const page = async () => ({ default: Outlet });

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
])('the stand-in agrees with React Router about the match of %s at %s', (path, pathname) => {
  const [match] = matchRoutes([{ id: 'page', path, caseSensitive: true }], pathname) ?? [];
  const own = toMatches(
    createRouteTree([{ id: 'page', path, page }]),
    { routes: ['page'], params: { ...match?.params } as Record<string, string> },
    pathname,
  ).at(-1);
  const { pathnameBase } = match ?? { pathnameBase: '' };
  expect(own).toMatchObject({ pathname, pathnameBase });
});
