import { expect, it } from 'vitest';
import { emptyLocationTable, parseLocationTable } from '../../../../src/server/errors/digest/location-table.ts';

const frame = { file: 'server/main.js', line: 1, column: 1, function: '' };

it.each([
  ['src/server/product/cart.ts', 'own'],
  ['src/lib/cart.ts', 'own'],
  ['legacy/app.js', 'own'],
  ['tests/server/product/cart.test.ts', 'own'],
  ['src/server/pages/page-handlers.ts', 'engine'],
  ['src/desk/server/desk.ts', 'engine'],
  ['src/server/main.ts', 'engine'],
  ['tests/server/cart.test.ts', 'engine'],
  ['node_modules/@scope/pkg/lib/index.js', 'dependency'],
])('a source file that runs without a build, %s, is of the kind %s', (file, home) => {
  expect(emptyLocationTable.find({ ...frame, file })?.home).toBe(home);
});

it('knows nothing about bundles without a table, and rejects one of another version', () => {
  expect([emptyLocationTable.find(frame), emptyLocationTable.has(frame.file)]).toEqual([undefined, false]);
  expect(() => parseLocationTable('{"version":99}')).toThrow('Build again');
});
