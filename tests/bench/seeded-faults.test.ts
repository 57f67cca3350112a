import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { faults, listMisplaced } from '../../bench/seeded-faults/faults.mjs';
import { hasDesk } from '../support/has-desk.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

it.skipIf(!hasDesk)('seeds every fault into a line that exists, and runs folders that exist', () => {
  const folders = faults.flatMap(({ tests }) => tests).filter((path) => !path.endsWith('.'));
  expect(listMisplaced(root, faults)).toEqual([]);
  expect(folders.filter((path) => !existsSync(root + path))).toEqual([]);
});
