import { describe, expect, it } from 'vitest';
import { causesOf } from '../../../../src/client/engine/reporting/deliver-reports.ts';
import { isLoadFailure } from '../../../../src/client/engine/reporting/thrown.ts';

const hostile = new Proxy(new Error('never read'), {
  get() {
    throw new Error('a trap');
  },
});

describe('causesOf', () => {
  it('follows causes, and stops at a cycle', () => {
    const inner: Error & { cause?: unknown } = new Error('inner');
    const outer = new Error('outer', { cause: inner });
    expect(causesOf(outer)).toEqual([outer, inner]);
    inner.cause = outer;
    expect(causesOf(outer)).toEqual([outer, inner]);
  });

  it('stops in an endless chain', () => {
    let chain = new Error('0');
    for (let link = 1; link < 50; link++) chain = new Error(String(link), { cause: chain });
    expect(causesOf(chain)).toHaveLength(10);
  });

  it.each([[undefined], [null], ['words'], [7], [Symbol('s')], [hostile]])('never throws: %#', (thrown) => {
    expect(causesOf(thrown)).toHaveLength(1);
    expect(isLoadFailure(thrown)).toBe(false);
  });
});

describe('isLoadFailure', () => {
  it.each([
    'Failed to fetch dynamically imported module: https://a.example/assets/a-X.js',
    'error loading dynamically imported module: https://a.example/assets/a-X.js',
    'Importing a module script failed.',
  ])('recognizes browser messages for a module that failed to load: %s', (message) => {
    expect(isLoadFailure(new TypeError(message))).toBe(true);
  });

  it('is false for a programming error', () => {
    expect(isLoadFailure(new TypeError("Cannot read properties of undefined (reading 'import')"))).toBe(false);
  });
});
