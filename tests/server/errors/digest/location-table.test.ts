import { expect, it } from 'vitest';
import { emptyLocationTable } from '../../../../src/server/errors/digest/location-table.ts';

const frame = { file: 'server/main.js', line: 1, column: 1, function: '' };

it.each([
  ['src/server/product/cart.ts', 'product'],
  ['legacy/app.js', 'product'],
  ['server/src/app.ts', 'product'],
  ['src/server/pages/page-handlers.ts', 'engine'],
  ['node_modules/@scope/pkg/lib/index.js', 'dependency'],
])('a source file that runs without a build, %s, belongs to the %s', (file, owner) => {
  expect(emptyLocationTable.find({ ...frame, file })?.owner).toBe(owner);
});
