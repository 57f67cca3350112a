import { describe, expect, it } from 'vitest';
import {
  emptyLocationTable,
  parseLocationTable,
} from '../../../../../src/server/engine/errors/digest/location-table.ts';
import type { StackFrame } from '../../../../../src/server/engine/errors/failure.ts';

function frame(file: string, name = '', line = 1, column = 1): StackFrame {
  return { file, line, column, function: name };
}

describe('a source file that runs without a build', () => {
  it.each([
    ['Object.loader', 'loader'],
    ['new Cart', 'Cart'],
    ['Cart.pay [as run]', 'Cart.pay'],
    ['pay/<', 'pay'],
    ['Cart.<anonymous>', 'Cart'],
    ['', ''],
  ])('is its own site, with the function %s', (name, known) => {
    expect(emptyLocationTable.find(frame('src/server/product/cart.ts', name))).toMatchObject({
      path: 'src/server/product/cart.ts',
      function: known,
    });
  });

  it.each([
    ['src/server/product/cart.ts', 'own'],
    ['src/shared/lib/cart.ts', 'own'],
    ['src/lib/cart.ts', 'own'],
    ['src/server/engine/pages/page-handlers.ts', 'engine'],
    ['src/server/sentry/sentry.ts', 'engine'],
    ['src/server/main.ts', 'engine'],
    ['node_modules/@scope/pkg/lib/index.js', 'dependency'],
  ])('%s is of the kind %s', (file, home) => {
    expect(emptyLocationTable.find(frame(file))?.home).toBe(home);
  });

  it('skips helpers by file and by function', () => {
    const isHelper = (file: string, name: string) => emptyLocationTable.find(frame(file, name))?.isHelper;
    expect(isHelper('src/shared/product/invariant.ts', 'check')).toBe(true);
    expect(isHelper('src/shared/product/cart.ts', 'assertDefined')).toBe(true);
    expect(isHelper('src/shared/product/cart.ts', 'asserting')).toBe(false);
  });
});

it('knows nothing about bundles without a table', () => {
  expect(emptyLocationTable.find(frame('server/main.js'))).toBeUndefined();
  expect(emptyLocationTable.has('server/main.js')).toBe(false);
});

it('rejects a table of another version, and says what to do', () => {
  expect(() => parseLocationTable('{"version":99}')).toThrow('Build again');
});
