import { expect, it } from 'vitest';
import { causesOf } from '../../../src/shared/reporting/causes.ts';

it('follows causes, and stops at a cycle', () => {
  const inner: Error & { cause?: unknown } = new Error('inner');
  const outer = new Error('outer', { cause: inner });
  expect(causesOf(outer)).toEqual([outer, inner]);
  inner.cause = outer;
  expect(causesOf(outer)).toEqual([outer, inner]);
});

it('never throws', () => {
  const hostile = new Proxy(new Error('never read'), {
    get() {
      throw new Error('a trap');
    },
  });
  expect(causesOf(hostile)).toHaveLength(1);
  expect(causesOf(undefined)).toEqual([undefined]);
});

it('asks only what can have a cause, if told so', () => {
  const plain = { cause: 'ignored' };
  const outer = new Error('outer', { cause: plain });
  expect(causesOf(outer)).toEqual([outer, plain, 'ignored']);
  expect(causesOf(outer, (value) => value instanceof Error)).toEqual([outer, plain]);
});
