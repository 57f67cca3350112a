import { expect, it } from 'vitest';
import * as z from 'zod';
import { readConfig } from '../../../src/server/config.ts';
import { defineSettings, requireProduct } from '../../../src/server/define-product.ts';
import { requireMembers } from '../../../src/server/errors/wiring-error.ts';

const settings = defineSettings({});

it('says of a setting without a value how to set it', () => {
  const table = { MAP_KEY: { about: 'The key.', example: 'pk.1', schema: z.string().startsWith('pk.') } };
  const read = () => defineSettings(table).read({}, readConfig({}));
  expect(read).toThrow('The setting MAP_KEY is missing. An example: MAP_KEY=pk.1.');
});

it.each([
  ['no product', undefined, 'src/server/product/index.ts does not export `product`.'],
  ['no settings', { pages: {} }, '`settings` is missing in src/server/product/index.ts.'],
  ['no pages', { settings }, '`pages`, the table of server files, is missing'],
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
  ...['https://app.example.com/', 'https://App.example.com', 'app.example.com', '*', 'null', 'file://'].map(
    (origin): [string, object, string] => [
      `the origin ${origin}`,
      { settings, pages: {}, apiOrigins: [origin] },
      `\`apiOrigins\` in src/server/product/index.ts has "${origin}", which is not an origin. Write it as https://app.example.com.`,
    ],
  ),
])('names what is wrong with a product: %s', (_, product, sentence) => {
  expect(() => requireProduct(product)).toThrow(sentence);
});

it.each([
  ['a promise', Promise.resolve([]), 'returns a promise. Return a list of Express handlers.'],
  ['a function', () => 1, 'returns a value of type function.'],
  ['a member that is missing', [() => 1, undefined], 'returns a list whose member 2 is undefined.'],
])('names what is wrong with a list: %s', (_, list, words) => {
  expect(() => requireMembers('steps', list, (step) => typeof step === 'function')).toThrow(
    `\`steps\` in src/server/product/index.ts ${words}`,
  );
});
