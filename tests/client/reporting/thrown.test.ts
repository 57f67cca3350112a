import { expect, it } from 'vitest';
import { isLoadFailure, isMeant, isNetworkFailure } from '../../../src/client/reporting/thrown.ts';
import { notFound, publicError, redirect } from '../../../src/shared/routing/control-flow.ts';
import { WireFailure } from '../../../src/shared/wire/decode.ts';

function thrownBy(run: () => never): unknown {
  try {
    return run();
  } catch (thrown) {
    return thrown;
  }
}

const hostile = new Proxy(new Error('never read'), {
  get() {
    throw new Error('a trap');
  },
});

it.each([
  [true, thrownBy(notFound)],
  [true, thrownBy(() => redirect('/a'))],
  [true, thrownBy(() => publicError(418, 'Tea.'))],
  [true, new WireFailure({ kind: 'not-found', status: 404 })],
  [true, new DOMException('Left.', 'AbortError')],
  [false, new Error('AbortError')],
  [false, new WireFailure({ kind: 'failure', status: 500 })],
  [false, new DOMException('Late.', 'TimeoutError')],
  [false, hostile],
])('isMeant() is %s for what is not a failure: %#', (expected, thrown) => {
  expect(isMeant(thrown)).toBe(expected);
});

it.each([
  [isNetworkFailure, 'Failed to fetch'],
  [isNetworkFailure, 'network error'],
  [isNetworkFailure, 'NetworkError when attempting to fetch resource.'],
  [isNetworkFailure, 'Load failed'],
  [isLoadFailure, 'Failed to fetch dynamically imported module: https://a.example/assets/a-X.js'],
  [isLoadFailure, 'error loading dynamically imported module: https://a.example/assets/a-X.js'],
  [isLoadFailure, 'Importing a module script failed.'],
])('%o recognizes the message of a browser: %s', (recognizes, message) => {
  expect(recognizes(new TypeError(message))).toBe(true);
  expect(isNetworkFailure(new Error(message))).toBe(false);
});
