import { describe, expect, it } from 'vitest';
import {
  emptyLocationTable,
  parseLocationTable,
} from '../../../../../src/server/engine/errors/digest/location-table.ts';
import type { StackFrame } from '../../../../../src/server/engine/errors/failure.ts';

const find = (file: string, name = '') => {
  const frame: StackFrame = { file, line: 1, column: 1, function: name };
  return emptyLocationTable.find(frame);
};

describe('a source file that runs without a build', () => {
  it.each([
    ['Object.loader', 'loader'],
    ['new Cart', 'Cart'],
    ['Cart.pay [as run]', 'Cart.pay'],
    ['pay/<', 'pay'],
    ['Cart.<anonymous>', 'Cart'],
    ['', ''],
  ])('is its own site, with the function %s', (name, known) => {
    expect(find('src/server/product/cart.ts', name)).toMatchObject({
      path: 'src/server/product/cart.ts',
      function: known,
    });
  });

  it.each([
    ['src/server/product/cart.ts', 'own'],
    ['src/lib/cart.ts', 'own'],
    ['legacy/app.js', 'own'],
    ['tests/server/product/cart.test.ts', 'own'],
    ['src/server/engine/pages/page-handlers.ts', 'engine'],
    ['src/server/desk/desk.ts', 'engine'],
    ['src/server/main.ts', 'engine'],
    ['tests/server/cart.test.ts', 'engine'],
    ['node_modules/@scope/pkg/lib/index.js', 'dependency'],
  ])('%s is of the kind %s', (file, home) => {
    expect(find(file)?.home).toBe(home);
  });

  it.each([
    ['src/shared/product/invariant.ts', 'check', true],
    ['src/shared/product/cart.ts', 'assertDefined', true],
    ['src/shared/product/cart.ts', 'asserting', false],
  ])('%s with the function %s is a helper: %s', (file, name, isHelper) => {
    expect(find(file, name)?.isHelper).toBe(isHelper);
  });
});

it('knows nothing about bundles without a table', () => {
  expect(find('server/main.js')).toBeUndefined();
  expect(emptyLocationTable.has('server/main.js')).toBe(false);
});

it('rejects a table of another version, and says what to do', () => {
  expect(() => parseLocationTable('{"version":99}')).toThrow('Build again');
});
