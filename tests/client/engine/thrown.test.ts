import { describe, expect, it } from 'vitest';
import { causesOf, isLoadFailure, isMeant, isNetworkFailure, read } from '../../../src/client/engine/thrown.ts';
import { notFound, publicError, redirect } from '../../../src/shared/engine/outcome.ts';
import { WireFailure } from '../../../src/shared/engine/wire.ts';

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

describe('causesOf', () => {
  it('follows causes, and ends at a cycle', () => {
    const inner: Error & { cause?: unknown } = new Error('inner');
    const outer = new Error('outer', { cause: inner });
    expect(causesOf(outer)).toEqual([outer, inner]);
    inner.cause = outer;
    expect(causesOf(outer)).toEqual([outer, inner]);
  });

  it('ends in a chain that goes on', () => {
    let chain = new Error('0');
    for (let link = 1; link < 50; link++) chain = new Error(String(link), { cause: chain });
    expect(causesOf(chain)).toHaveLength(10);
  });

  it.each([[undefined], [null], ['words'], [7], [Symbol('s')], [hostile]])('never throws: %#', (thrown) => {
    expect(causesOf(thrown)).toHaveLength(1);
    expect(isMeant(thrown)).toBe(false);
    expect(isNetworkFailure(thrown)).toBe(false);
    expect(isLoadFailure(thrown)).toBe(false);
  });
});

describe('what is meant', () => {
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
  ])('leaves what is one: %#', (thrown) => {
    expect(isMeant(thrown)).toBe(false);
  });
});

describe('what browsers say', () => {
  it.each(['Failed to fetch', 'network error', 'NetworkError when attempting to fetch resource.', 'Load failed'])(
    'of a request without an answer: %s',
    (message) => {
      expect(isNetworkFailure(new TypeError(message))).toBe(true);
      expect(isNetworkFailure(new Error(message))).toBe(false);
    },
  );

  it.each([
    'Failed to fetch dynamically imported module: https://a.example/assets/a-X.js',
    'error loading dynamically imported module: https://a.example/assets/a-X.js',
    'Importing a module script failed.',
  ])('of a module that did not come: %s', (message) => {
    expect(isLoadFailure(new TypeError(message))).toBe(true);
  });

  it('is not mistaken for a mistake', () => {
    const mistake = new TypeError("Cannot read properties of undefined (reading 'fetch')");
    expect(isNetworkFailure(mistake) || isLoadFailure(mistake)).toBe(false);
  });
});

describe('read', () => {
  it('reads of anything what it has', () => {
    expect(read({ a: 1 }, 'a')).toBe(1);
    expect(read(null, 'a')).toBeUndefined();
    expect(read(hostile, 'a')).toBeUndefined();
  });
});
