import { expect, it } from 'vitest';
import { WiringError } from '../../../src/server/errors/wiring-error.ts';
import { requireBothHalves } from '../../../src/server/pages/load-app.ts';
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
    new WiringError('The route "order" is missing in src/server/product/pages/index.ts. Add its server half, or null.'),
  );
});

it('names a server half without a route, and ignores inherited properties', () => {
  expect(() => requireBothHalves(new Map([['toString', {}]]), { ordr: null })).toThrow(
    /^The route "toString" is missing in .*\nsrc\/server\/product\/pages\/index\.ts has a server half "ordr", but there is no such route\./,
  );
});

it('names a half with another path than its route', () => {
  const half = { path: '/order/:id' };
  expect(() => requireBothHalves(new Map([['order', { path: '/orders/:id' }]]), { order: half })).toThrow(
    `The server half of "order" (src/server/product/pages) has the path '/order/:id', but its route has '/orders/:id'.`,
  );
});

it('names a page without a component', async () => {
  await expect(startPages([{ id: 'order', path: '/order', view: undefined as never }])).rejects.toThrow(
    'The page "order" does not export a component as its default. src/shared/product/routes.tsx names its file.',
  );
});
