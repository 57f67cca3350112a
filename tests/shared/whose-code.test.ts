import { expect, it } from 'vitest';
import { isInProduct, isProductCode, isYours } from '../../src/shared/whose-code.mjs';

it.each([
  ['src/server/product/index.ts', { inProduct: true, code: true, yours: true }],
  ['tests/product/failures/7K3QM2XA.test.ts', { inProduct: true, code: true, yours: true }],
  ['tests/support/product/index.ts', { inProduct: true, code: true, yours: false }],
  ['src/client/public/robots.txt', { inProduct: false, code: false, yours: true }],
  ['src/server/app.ts', { inProduct: false, code: false, yours: false }],
  ['src/desk/shared/product.ts', { inProduct: false, code: false, yours: false }],
  ['node_modules/pg/src/server/product/index.js', { inProduct: false, code: false, yours: false }],
])('%s', (path, expected) => {
  const found = { inProduct: isInProduct(path), code: isProductCode(path), yours: isYours(path) };
  expect(found).toEqual(expected);
});
