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

it('names the parts of a server half that are not functions', () => {
  const half = { loader: { total: 7 }, guard: () => {}, actions: { pay: undefined, cancel: () => 1 } };
  expect(() => requireBothHalves(new Map([['order', { path: '/orders/:id' }]]), { order: half as never })).toThrow(
    'In the server half of "order" (src/server/product/pages), loader is not a function.\n' +
      'In the server half of "order" (src/server/product/pages), actions.pay is not a function or { maxBytes, run }.',
  );
});

it('names a half whose path or search is wrong', () => {
  const half = { path: '/order/:id', search: { page: 1 } as never };
  expect(() => requireBothHalves(new Map([['order', { path: '/orders/:id' }]]), { order: half })).toThrow(
    'In the server half of "order" (src/server/product/pages), search is not a schema, such as z.object({ … }).\n' +
      `In the server half of "order" (src/server/product/pages), path is '/order/:id', but its route has '/orders/:id'.`,
  );
});

it('names a page without a component', async () => {
  await expect(startPages([{ id: 'order', path: '/order', view: undefined as never }])).rejects.toThrow(
    'The page "order" does not export a component as its default. src/shared/product/routes.tsx names its file.',
  );
});
