import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { mapExistingApp } from '../../build/unbundled-maps.mjs';
import { createFolder } from '../support/folder.ts';
import { writeFiles } from './write-files.ts';

it.each([
  ['./legacy/app.js', ['maps/legacy/app.js.map', 'maps/legacy/routes.js.map']],
  ['./../legacy/app.js', []], // they would be outside of `dist`
])('makes source maps of the modules in the folder of %s', (file, paths) => {
  const folder = createFolder(onTestFinished);
  const root = join(folder, 'web');
  const product = `export const product = defineProduct({ existingApp: '${file}' });`;
  const modules = { 'legacy/app.js': '', 'legacy/routes.js': '', 'web/legacy/app.js': '', 'web/legacy/routes.js': '' };
  writeFiles(folder, { ...modules, 'web/src/server/product/index.ts': product });
  expect(mapExistingApp(root).map(({ path }) => path)).toEqual(paths);
});
