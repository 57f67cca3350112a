import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { expect, it, onTestFinished } from 'vitest';
import { listLoaded, nativePackages } from '../../build/packages.mjs';
import { createFolder } from '../support/folder.ts';

it('loads a native package at run time that a package of the workspace needs, if the project has it too', async () => {
  const workspace = createFolder(onTestFinished);
  const root = join(workspace, 'apps/web');
  const files = {
    'apps/web/main.js': "import 'db';",
    'packages/db/package.json': '{}',
    'packages/db/index.js': "import 'sqlite';",
    'packages/db/node_modules/sqlite/package.json': '{ "dependencies": { "bindings": "1" } }',
    'packages/db/node_modules/sqlite/index.js': "throw new Error('bundled');",
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(workspace, path)), { recursive: true });
    writeFileSync(join(workspace, path), text);
  }
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
