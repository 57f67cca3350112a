import { expect, it } from 'vitest';
import {
  emptyLocationTable,
  parseLocationTable,
} from '../../../../../src/server/engine/errors/digest/location-table.ts';

it('knows nothing about bundles without a table, and rejects one of another version', () => {
  const frame = { file: 'server/main.js', line: 1, column: 1, function: '' };
  expect([emptyLocationTable.find(frame), emptyLocationTable.has(frame.file)]).toEqual([undefined, false]);
  expect(() => parseLocationTable('{"version":99}')).toThrow('Build again');
});
