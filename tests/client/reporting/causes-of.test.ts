import { describe, expect, it } from 'vitest';
import { causesOf } from '../../../src/client/reporting/deliver-reports.ts';
import { isLoadFailure } from '../../../src/client/reporting/thrown.ts';

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
    expect(causesOf(hostile)).toHaveLength(1);
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
});
