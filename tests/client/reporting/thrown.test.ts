import { describe, expect, it } from 'vitest';
import { isMeant, isNetworkFailure } from '../../../src/client/reporting/thrown.ts';
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

describe('isMeant', () => {
  it.each([
    [thrownBy(notFound)],
    [thrownBy(() => redirect('/a'))],
    [thrownBy(() => publicError(418, 'Tea.'))],
    [new WireFailure({ kind: 'not-found', status: 404 })],
    [new DOMException('Left.', 'AbortError')],
  ])('is no failure: %#', (thrown) => {
    expect(isMeant(thrown)).toBe(true);
  });

  it.each([
    [new Error('AbortError')],
    [new WireFailure({ kind: 'failure', status: 500 })],
    [new DOMException('Late.', 'TimeoutError')],
    [hostile],
  ])('leaves what is one: %#', (thrown) => {
    expect(isMeant(thrown)).toBe(false);
  });
});

describe('isNetworkFailure', () => {
  it.each(['Failed to fetch', 'network error', 'NetworkError when attempting to fetch resource.', 'Load failed'])(
    'recognizes browser messages for a request without a response: %s',
    (message) => {
      expect(isNetworkFailure(new TypeError(message))).toBe(true);
      expect(isNetworkFailure(new Error(message))).toBe(false);
    },
  );
});
