import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { listLicenses } from '../../build/licenses.mjs';
import { createFolder } from '../support/folder.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

it('the licenses of all packages in the build or loaded by it are known, and require only attribution', () => {
  const packages = listLicenses(root);
  expect(packages.filter(({ isAllowed }) => !isAllowed)).toEqual([]);
  // A bundled package, packages loaded at run time, and a dependency of one.
  for (const name of ['react', 'express', 'pino', 'thread-stream']) {
    expect(packages).toContainEqual(expect.objectContaining({ name, license: 'MIT' }));
  }
});

it.each([
  ['MIT', true],
  ['(MIT OR GPL-3.0-only)', true],
  ['MIT AND ISC', true],
  ['MIT AND GPL-3.0-only', false],
  [undefined, false],
])('the license %s is allowed: %s', (license, isAllowed) => {
  const folder = createFolder(onTestFinished);
  const write = (path: string, value: unknown) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), JSON.stringify(value));
  };
  write('dist/packages.json', { bundled: ['node_modules/a'], loaded: [] });
  write('node_modules/a/package.json', { name: 'a', version: '1.0.0', license });
  expect(listLicenses(folder)).toEqual([{ name: 'a', version: '1.0.0', license: license ?? 'unknown', isAllowed }]);
});
