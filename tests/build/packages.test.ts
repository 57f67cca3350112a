import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, it, onTestFinished } from 'vitest';
import { listLoaded, nativePackages } from '../../build/packages.mjs';
import { createFolder } from '../support/folder.ts';
import { writeFiles } from './write-files.ts';

it('loads a native package at run time that a package of the workspace needs, if the project has it too', async () => {
  const workspace = createFolder(onTestFinished);
  const root = join(workspace, 'apps/web');
  writeFiles(workspace, {
    'apps/web/main.js': "import 'db';",
    'packages/db/package.json': '{}',
    'packages/db/index.js': "import 'sqlite';",
    'packages/db/node_modules/sqlite/package.json': '{ "dependencies": { "bindings": "1" } }',
    'packages/db/node_modules/sqlite/index.js': "throw new Error('bundled');",
  });
  const link = (path: string) =>
    symlinkSync(join(workspace, path), join(root, 'node_modules', path.split('/').at(-1) ?? ''), 'junction');
  mkdirSync(join(root, 'node_modules'));
  link('packages/db');
  const bundle = () =>
    build({
      ...{ absWorkingDir: root, entryPoints: ['main.js'], bundle: true, write: false, metafile: true },
      ...{ format: 'esm', platform: 'node', logLevel: 'silent', plugins: [nativePackages(root)] },
    });
  await expect(bundle()).rejects.toThrow(
    /packages\/db\/index\.js:1:7: .*sqlite has native code, .* Add it to the dependencies in its package\.json/,
  );
  link('packages/db/node_modules/sqlite');
  expect(listLoaded([(await bundle()).metafile])).toEqual(['sqlite']);
});
