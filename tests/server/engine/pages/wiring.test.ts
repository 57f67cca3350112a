import { expect, it } from 'vitest';
import { requireBothHalves, WiringError } from '../../../../src/server/engine/pages/wiring.ts';

it('accepts a server half, or null, for each route', () => {
  expect(() => requireBothHalves(['root', 'home'], { root: null, home: {} })).not.toThrow();
});

it.each([
  ['no half', {}],
  ['an undefined half', { order: undefined }],
])('names a route with %s, and the file to fix', (_, halves) => {
  expect(() => requireBothHalves(['root', 'order'], { root: null, ...halves })).toThrow(
    new WiringError('The route "order" is missing in src/server/product/pages/index.ts. Add its server half, or null.'),
  );
});

it('names a server half without a route, and ignores inherited properties', () => {
  expect(() => requireBothHalves(['toString'], { ordr: null })).toThrow(
    /^The route "toString" is missing in .*\nsrc\/server\/product\/pages\/index\.ts has a server half "ordr", but there is no such route\./,
  );
});

it('names the file of another table', () => {
  expect(() => requireBothHalves(['list'], {}, 'admin')).toThrow(/in src\/server\/admin\/pages\/index\.ts/);
});
