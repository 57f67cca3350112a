import { mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { mapExistingApp, mapLoadedPackages } from '../../build/unbundled-maps.mjs';
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

it('makes source maps of packages of the workspace that are loaded at run time', () => {
  const workspace = realpathSync(createFolder(onTestFinished));
  const root = join(workspace, 'apps/web');
  writeFiles(workspace, {
    ...{ 'package-lock.json': '{}', 'apps/web/package.json': '{}' },
    ...{ 'apps/api/package.json': '{}', 'apps/api/app.js': '', 'apps/api/node_modules/own/index.js': '' },
    ...{ 'node_modules/log/package.json': '{}', 'node_modules/log/index.js': '' },
  });
  mkdirSync(join(root, 'node_modules'));
  symlinkSync(join(workspace, 'apps/api'), join(root, 'node_modules/api'), 'junction');
  const maps = mapLoadedPackages(root, ['api', 'log', 'missing']);
  expect(maps.map(({ path }) => path)).toEqual(['maps/apps/api/app.js.map', 'maps/node_modules/api/app.js.map']);
  const sources = maps.map(({ contents }) => JSON.parse(String(contents)).sources);
  expect(sources).toEqual([['../../../apps/api/app.js'], ['../../../apps/api/app.js']]);
});
