import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createFolder } from './folder.ts';
import { createSourceTable } from './source-table.ts';

const CART = `export class Cart {
  static check() {
    return [1].map(() => {
      throw new Error('It is empty.');
    });
  }
}

export const total = (cart: { rows: unknown[] }) => cart.rows.length;
`;

async function openTable() {
  const root = createFolder(onTestFinished);
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  write('src/server/product/cart.ts', CART);
  write('tests/server/product/cart.test.ts', CART);
  write('moves.json', JSON.stringify([['src/server/product/basket.ts', 'src/server/product/cart.ts']]));
  const table = await createSourceTable(root);
  return {
    table,
    find: (file: string, line: number, column: number) => table.find({ file, line, column, function: 'x' }),
  };
}

it('finds the function and the statement of a position in a source file, with its first names', async () => {
  const { find, table } = await openTable();
  const thrown = find('src/server/product/cart.ts', 4, 13);
  expect(thrown).toMatchObject({ function: 'Cart.check', detail: 'throw new Error("It is empty.")', kind: 'thrown' });
  expect(thrown?.first).toMatchObject({ path: 'src/server/product/basket.ts', function: 'Cart.check' });
  expect(find('src/server/product/cart.ts', 9, 58)).toMatchObject({ function: 'total', detail: '', home: 'own' });
  expect(table.isWritten('src/server/product/cart.ts', 'rows')).toBe(true);
  expect(table.isWritten('src/server/product/cart.ts', 'columns')).toBe(false);
});

it('knows dependencies by their names, and nothing of tests', async () => {
  const { find } = await openTable();
  expect(find('node_modules/pg/lib/client.js', 1, 1)).toMatchObject({ path: 'node_modules/pg', home: 'dependency' });
  expect(find('tests/server/product/cart.test.ts', 4, 13)).toBeUndefined();
  expect(find('node:net', 1, 1)).toBeUndefined();
});
