import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLocations } from '../../../../../build/sites.mjs';
import { createDigest, type DigestResult } from '../../../../../src/server/engine/errors/digest/create-digest.ts';
import { loadLocationTable } from '../../../../../src/server/engine/errors/digest/location-table.ts';
import { bundleProject } from '../../../../support/bundled-project.ts';
import { createFolder } from '../../../../support/folder.ts';

type Move = readonly [from: string, to: string];

const MAIN = (path: string) => `import { run } from '${path}'; export const fail = () => run();`;
const CART = `export function run() {
  const cart = { check() { throw new CartError('The cart is empty.'); } };
  return cart.check();
}
class CartError extends Error {}`;
const STATEMENT = 'throw new CartError("The cart is empty.")';

/** Returns the digest of the error that the project throws, with its stack in the format of an engine. */
async function digestOf(path: string, text: string, moves: readonly Move[] = []): Promise<DigestResult> {
  const root = createFolder(onTestFinished);
  writeFileSync(join(root, 'moves.json'), JSON.stringify(moves));
  const { dist, fail } = await bundleProject(root, { [`src/${path}`]: text, 'src/main.ts': MAIN(`./${path}`) });
  const errors = [{ class: 'Error', message: 'The cart is empty.', frames: fail() }];
  return createDigest({ side: 'server', errors }, { namespace: 'n', table: loadLocationTable(dist) });
}

describe('a digest stays the same', () => {
  const basket = CART.replace('const cart', 'const basket').replace('return cart', 'return basket');
  const renamed = CART.replace('function run', 'function start').concat('\nexport { start as run };');
  const privateMethod = `class Cart {
    static run() { return Cart.#check(); }
    static #check() { throw new CartError('The cart is empty.'); }
  }
  class CartError extends Error {}
  export const run = Cart.run;`;
  it.each<[string, string, string, Move[]]>([
    [
      'its function becomes a private method',
      'server/product/cart.ts',
      privateMethod,
      [
        ['src/server/product/cart.ts#run.cart.check', 'src/server/product/cart.ts#Cart.#check'],
        ['src/server/product/cart.ts#run', 'src/server/product/cart.ts#Cart.run'],
      ],
    ],
    [
      'its file is moved',
      'shared/product/basket.ts',
      CART,
      [['src/server/product/cart.ts', 'src/shared/product/basket.ts']],
    ],
    [
      'its file is moved twice',
      'client/product/basket.ts',
      CART,
      [
        ['src/server/product/cart.ts', 'src/shared/product/basket.ts'],
        ['src/shared/product/basket.ts', 'src/client/product/basket.ts'],
      ],
    ],
    [
      'a function around it is renamed',
      'server/product/cart.ts',
      renamed,
      [['src/server/product/cart.ts#run', 'src/server/product/cart.ts#start']],
    ],
    [
      'its function is renamed and moved to another file',
      'shared/product/basket.ts',
      basket,
      [['src/server/product/cart.ts#run.cart.check', 'src/shared/product/basket.ts#run.basket.check']],
    ],
    [
      'its message and its class change',
      'server/product/cart.ts',
      CART.replace('The cart is empty.', 'Put something in.').replaceAll('CartError', 'EmptyError'),
      [
        [
          `src/server/product/cart.ts#run.cart.check#${STATEMENT}`,
          'src/server/product/cart.ts#run.cart.check#throw new EmptyError("Put something in.")',
        ],
      ],
    ],
  ])('when %s', async (_, path, text, moves) => {
    const before = await digestOf('server/product/cart.ts', CART);
    const after = await digestOf(path, text, moves);
    expect(after.digest).toBe(before.digest);
    // The current place is shown.
    expect(after.site?.path).toBe(`src/${path}`);
    expect((await digestOf(path, text)).digest).not.toBe(before.digest);
  });

  it('when a private method becomes a function', async () => {
    const method = `class Cart { static #check() { throw new Error('Empty.'); } static start() { return Cart.#check(); } }
      export function run() { return Cart.start(); }`;
    const plain = "function check() { throw new Error('Empty.'); } export function run() { return check(); }";
    const path = 'server/product/cart.ts';
    const before = await digestOf(path, method);
    const moves: Move[] = [[`src/${path}#Cart.#check`, `src/${path}#check`]];
    expect((await digestOf(path, plain, moves)).digest).toBe(before.digest);
    expect((await digestOf(path, plain)).digest).not.toBe(before.digest);
  });
});

it.each([[['src/a.ts']], [['src/a.ts', 'src/b.ts#f']], [['src/a.ts#f', 'src/b.ts#f#throw x']], ['src/a.ts']])(
  'an invalid move stops the build: %j',
  (move) => {
    expect(() => createLocations('/nowhere', [], { moves: [move] as never })).toThrow(/is not a valid move\. Write/);
  },
);
