import { expect, it } from 'vitest';
import { defineSettings, requireProduct } from '../../../src/server/define-product.ts';

const settings = defineSettings({});

it.each<[string, object | undefined, string]>([
  ['no product', undefined, 'src/server/product/index.ts does not export `product`.'],
  ['no settings', { pages: {} }, '`settings` is missing in src/server/product/index.ts.'],
  ['no pages', { settings }, '`pages`, the table of server halves, is missing'],
  [
    'a list in place of a function',
    { settings, pages: {}, steps: [] },
    '`steps` in src/server/product/index.ts is not',
  ],
  [
    'services that cannot be opened',
    { settings, pages: {}, services: {} },
    '`services` in src/server/product/index.ts',
  ],
])('names what is wrong with a product: %s', (_, product, sentence) => {
  expect(() => requireProduct(product)).toThrow(sentence);
});
