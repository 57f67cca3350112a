import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createLocations } from '../../../../build/locations.mjs';
import { createDigest } from '../../../../src/server/errors/digest/create-digest.ts';
import { loadLocationTable } from '../../../../src/server/errors/digest/location-table.ts';
import { bundleProject } from '../../../support/bundled-project.ts';
import { createFolder } from '../../../support/folder.ts';

type Move = readonly [from: string, to: string];

const CART = `export function run() {
  const cart = { check() { throw new CartError('The cart is empty.'); } };
  return cart.check();
}
class CartError extends Error {}`;
const PRIVATE = `class Cart {
  static run() { return Cart.#check(); }
  static #check() { throw new CartError('The cart is empty.'); }
}
class CartError extends Error {}
export const run = Cart.run;`;
const BASKET = CART.replace('const cart', 'const basket').replace('return cart', 'return basket');
const FROM = 'server/product/cart.ts';
const [BASE, SHARED, CLIENT] = ['server/product/cart', 'shared/product/basket', 'client/product/basket'].map(
  (path) => `src/${path}.ts`,
) as [string, string, string];

/** Returns the digest of the error that the project throws, with its stack in the format of an engine. */
async function digestOf(path: string, text: string, moves: readonly Move[] = []) {
  const root = createFolder(onTestFinished);
  writeFileSync(join(root, 'moves.json'), JSON.stringify(moves));
  const main = `import { run } from './${path}'; export const fail = () => run();`;
  const { dist, fail } = await bundleProject(root, { [`src/${path}`]: text, 'src/main.ts': main });
  const errors = [{ class: 'Error', message: 'The cart is empty.', frames: fail() }];
  return createDigest({ side: 'server', errors }, { namespace: 'n', table: loadLocationTable(dist) });
}

it.each<[string, text: string, moves: Move[], path?: string, before?: string]>([
  [
    'its function becomes a private method',
    PRIVATE,
    [
      [`${BASE}#run.cart.check`, `${BASE}#Cart.#check`],
      [`${BASE}#run`, `${BASE}#Cart.run`],
    ],
  ],
  [
    'a private method becomes a function',
    "function check() { throw new Error('Empty.'); } export function run() { return check(); }",
    [[`${BASE}#Cart.#check`, `${BASE}#check`]],
    FROM,
    `class Cart { static #check() { throw new Error('Empty.'); } static start() { return Cart.#check(); } }
      export function run() { return Cart.start(); }`,
  ],
  [
    'its file is moved twice',
    CART,
    [
      [BASE, SHARED],
      [SHARED, CLIENT],
    ],
    'client/product/basket.ts',
  ],
  [
    'its function is renamed and moved to another file',
    BASKET,
    [[`${BASE}#run.cart.check`, `${SHARED}#run.basket.check`]],
    'shared/product/basket.ts',
  ],
  [
    'its message and its class change',
    CART.replace('The cart is empty.', 'Put something in.').replaceAll('CartError', 'EmptyError'),
    [
      [
        `${BASE}#run.cart.check#throw new CartError("The cart is empty.")`,
        `${BASE}#run.cart.check#throw new EmptyError("Put something in.")`,
      ],
    ],
  ],
])('a digest stays the same when %s', async (_, text, moves, path = FROM, first = CART) => {
  const before = await digestOf(FROM, first);
  const after = await digestOf(path, text, moves);
  expect(after.digest).toBe(before.digest);
  // The current place is shown.
  expect(after.location?.path).toBe(`src/${path}`);
  expect((await digestOf(path, text)).digest).not.toBe(before.digest);
});

it.each([[['src/a.ts']], [['src/a.ts', 'src/b.ts#f']], [['src/a.ts#f', 'src/b.ts#f#throw x']], ['src/a.ts']])(
  'an invalid move stops the build: %j',
  (move) => {
    expect(() => createLocations('/nowhere', [], { moves: [move] as never })).toThrow(/is not a valid move\. Write/);
  },
);
