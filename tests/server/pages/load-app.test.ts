import { expect, it } from 'vitest';
import { WiringError } from '../../../src/server/errors/wiring-error.ts';
import { requireBothHalves } from '../../../src/server/pages/load-app.ts';
import { createIsUnreachable } from '../../../src/server/request/paths.ts';
import { startPages } from '../../support/pages-app.tsx';

it.each([
  ['no half', {}],
  ['an undefined half', { order: undefined }],
])('names a route with %s, and the file to fix', (_, halves) => {
  expect(() =>
    requireBothHalves(
      new Map([
        ['root', {}],
        ['order', { path: '/orders/:id' }],
      ]),
      { root: null, ...halves },
    ),
  ).toThrow(
    new WiringError('The route "order" is missing in src/server/product/pages/index.ts. Add its server file, or null.'),
  );
});

it('names a server file without a route, and ignores inherited properties', () => {
  expect(() => requireBothHalves(new Map([['toString', {}]]), { ordr: null })).toThrow(
    /^The route "toString" is missing in .*\nsrc\/server\/product\/pages\/index\.ts has a server file "ordr", but there is no such route\./,
  );
});

it('names the parts of a server file that are wrong', () => {
  const actions = { pay: undefined, cancel: () => 1 };
  const half = { path: '/order/:id', search: { page: 1 }, loader: { total: 7 }, guard: () => {}, actions };
  const routes = new Map([['order', { path: '/orders/:id' }]] as const);
  const wrong = [
    'loader is not a function.',
    'actions.pay is not a function or { maxBytes, run }.',
    'search is not a schema, such as z.object({ … }).',
    "path is '/order/:id', but its route has '/orders/:id'.",
  ];
  const lines = wrong.map((words) => `In the server file of "order" (src/server/product/pages), ${words}`);
  expect(() => requireBothHalves(routes, { order: half as never })).toThrow(lines.join('\n'));
});

it('names a page without a component', async () => {
  await expect(startPages([{ id: 'order', path: '/order', view: null as never }])).rejects.toThrow(
    'The page "order" does not export a component as its default. src/shared/product/routes.tsx names its file.',
  );
});

it('names a page that needs a browser as it loads', async () => {
  const error = new ReferenceError('window is not defined');
  const explained = await startPages([{ id: 'map', path: '/map', page: () => Promise.reject(error) }]).catch(
    (it) => it,
  );
  expect(explained).toStrictEqual(
    new WiringError(
      'The page "map" cannot be loaded on the server: window is not defined. If a package needs a browser as it loads, import it in an effect: see docs/recipes/component-libraries.md#packages-for-browsers-only.',
    ),
  );
  expect(explained.stack).toBe(error.stack); // of which the start shows the product's file
});

it.each<[string, `/${string}`, `/${string}`]>([
  ['the same path', '/live', '/live'],
  ['another name of a parameter', '/orders/:id/edit', '/orders/:slug/edit'],
  ['an optional parameter', '/live', '/:lang?/live'],
  ['another name of an optional parameter', '/:lang?/live', '/:locale/live'],
  ['an optional word', '/orders/edit?', '/orders'],
  ['everything below', '/files/*', '/files/*'],
])('names two routes with %s, also in different layouts', async (_, one, other) => {
  const routes = [
    { id: 'one', path: one },
    { id: 'layout', children: [{ id: 'other', path: other }] },
  ];
  await expect(startPages(routes)).rejects.toThrow(
    new WiringError(
      `The routes "one" ('${one}') and "other" ('${other}') in src/shared/product/routes.tsx have URLs in common, so only one of them would be shown there. Give one another path.`,
    ),
  );
});

it.each<`/${string}`>(['/livez', '/:lang?/metrics', '/_check', '/_report', '/_data/*', '/Desk/mine', '/assets/:name'])(
  'names a route at %s, which the server itself answers',
  async (path) => {
    const isUnreachable = createIsUnreachable(['/_check', '/_report'], ['/desk', '/assets']);
    const findTaker = (path: string) => (isUnreachable(path) ? 'the server itself' : undefined);
    await expect(startPages([{ id: 'lost', path }], { findTaker })).rejects.toThrow(
      `The route "lost" ('${path}') in src/shared/product/routes.tsx would never be shown, because the server itself answers ${path.replace('/:lang?', '').replace(':name', ':')}. Give the route another path.`,
    );
  },
);

it.each<`/${string}`>(['/livez/today', '/api/guide', '/:any/:other', '/*', '/desks', '/_database'])(
  'accepts a route at %s',
  async (path) => {
    const isUnreachable = createIsUnreachable([], ['/desk']);
    await startPages([{ id: 'found', path }], { findTaker: (path) => (isUnreachable(path) ? 'it' : undefined) });
  },
);

it('accepts paths of which one is more exact, and the path of the route around', async () => {
  const paths = ['/', '/:lang', '/:lang/live', '/live', '/files', '/files/*', '/tab/:a?/:b?', '/:a/:b/:c'] as const;
  const children = [{ id: 'index', path: '/people/:id' } as const];
  await startPages([...paths.map((path) => ({ id: path, path })), { id: 'people', path: '/people/:id', children }]);
});
