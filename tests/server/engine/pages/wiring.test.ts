import { expect, it } from 'vitest';
import { requireBothHalves, WiringError } from '../../../../src/server/engine/pages/wiring.ts';

it('takes a half, or null, for each route', () => {
  expect(() => requireBothHalves(['root', 'home'], { root: null, home: {} })).not.toThrow();
});

it.each([
  ['no half', {}],
  ['an undefined half', { order: undefined }],
])('names a route with %s, and the file to mend', (_, halves) => {
  expect(() => requireBothHalves(['root', 'order'], { root: null, ...halves })).toThrow(
    new WiringError(
      'The route "order" has no server half. Give it one in src/server/product/pages/index.ts, or null there if it needs nothing of the server.',
    ),
  );
});

it('names a half without a route, which what every object has is none of', () => {
  expect(() => requireBothHalves(['toString'], { ordr: null })).toThrow(
    /^The route "toString" has no server half\..*\nThe server half "ordr" has no route\. Mend its id in src\/server\/product\/pages\/index\.ts/,
  );
});

it('names the files of another table', () => {
  expect(() => requireBothHalves(['list'], {}, 'desk')).toThrow(/in src\/server\/desk\/pages\/index\.ts/);
});
