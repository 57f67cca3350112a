import { spawnSync } from 'node:child_process';
import { mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { build } from 'esbuild';
import { expect, it, onTestFinished } from 'vitest';
import { placePackages } from '../../bin/image.mjs';
import { listLoaded, nativePackages } from '../../build/packages.mjs';
import { createFolder } from '../support/folder.ts';
import { writeFiles } from './write-files.ts';

/** Bundles `main.js` and lists the packages that it loads at run time. */
async function bundle(root: string) {
  const { metafile } = await build({
    ...{ absWorkingDir: root, entryPoints: ['main.js'], bundle: true, write: false, metafile: true },
    ...{ format: 'esm', platform: 'node', logLevel: 'silent', plugins: [nativePackages(root)] },
  });
  return listLoaded([metafile]);
}

it('loads a native package at run time that a package of the workspace needs, if the project has it too', async () => {
  const workspace = createFolder(onTestFinished);
  const root = join(workspace, 'apps/web');
  writeFiles(workspace, {
    'apps/web/main.js': "import 'db';",
    'packages/db/package.json':
      '{ "dependencies": { "sqlite": "1" }, "optionalDependencies": { "sqlite-linux": "1" } }',
    'packages/db/index.js': "import 'sqlite';",
    'packages/db/node_modules/sqlite/package.json': '{}',
    'packages/db/node_modules/sqlite/src/binding.gyp': '{}',
    'packages/db/node_modules/sqlite/index.js': "throw new Error('bundled');",
    'packages/db/node_modules/sqlite-linux/package.json': '{ "os": ["linux"] }',
  });
  const link = (path: string) =>
    symlinkSync(join(workspace, path), join(root, 'node_modules', path.split('/').at(-1) ?? ''), 'junction');
  mkdirSync(join(root, 'node_modules'));
  link('packages/db');
  await expect(bundle(root)).rejects.toThrow(
    /packages\/db\/index\.js:1:7: .*sqlite has native code, .* Add it to the dependencies in its package\.json/,
  );
  link('packages/db/node_modules/sqlite');
  expect(await bundle(root)).toEqual(['sqlite']);
});

/** What packages have in their folders, and which others they need. */
const PACKAGES: Record<string, { files?: string[]; needs?: object }> = {
  // Its code requires the package of its platform by a computed name.
  picture: {
    needs: { dependencies: { color: '1' }, optionalDependencies: { 'picture-linux': '1', 'picture-mac': '1' } },
  },
  'picture-linux': { needs: { os: ['linux'], optionalDependencies: { vips: '1' } } },
  vips: { files: ['libvips.so'] },
  hash: { files: ['prebuilds/linux-x64/hash.node'] },
  // Its code is JavaScript.
  client: { needs: { dependencies: { driver: '1' } } },
  driver: { files: ['lib/driver.node'] },
  color: { needs: { optionalDependencies: { 'color-extra': '1' } } },
  'color-extra': {},
};

const code = (name: string) => ({
  'package.json': JSON.stringify(PACKAGES[name]?.needs ?? {}),
  'index.js': name === 'client' ? "require('driver');" : '',
  ...Object.fromEntries((PACKAGES[name]?.files ?? []).map((file) => [file, ''])),
});

const MAIN = { 'main.js': ['picture', 'hash', 'client', 'color'].map((name) => `import '${name}';`).join('\n') };

it('a package stays out of the bundle if it has native code, or only it finds its native package, as pnpm links them', async () => {
  const root = realpathSync(createFolder(onTestFinished));
  const toFolder = (name: string, owner = name) => join(root, 'node_modules/.pnpm', owner, 'node_modules', name);
  const link = (from: string, name: string) => {
    mkdirSync(dirname(from), { recursive: true });
    symlinkSync(relative(dirname(from), toFolder(name)), from);
  };
  writeFiles(root, MAIN);
  for (const [name, { needs = {} }] of Object.entries(PACKAGES)) {
    writeFiles(toFolder(name), code(name));
    for (const other of Object.values(needs).flatMap((value) => Object.keys(value)))
      if (PACKAGES[other]) link(toFolder(other, name), other);
  }
  for (const name of ['picture', 'hash', 'client', 'color']) link(join(root, 'node_modules', name), name);
  const loaded = await bundle(root);
  expect(loaded).toEqual(['client', 'hash', 'picture']);
  expect(Object.fromEntries(placePackages(root, loaded))).toMatchObject(
    Object.fromEntries(['driver', 'picture-linux', 'vips'].map((name) => [`node_modules/${name}`, toFolder(name)])),
  );
});

it('finds no package of NODE_PATH, which the programs that pnpm links set, because modules are not loaded from there', () => {
  const root = realpathSync(createFolder(onTestFinished));
  writeFiles(root, { 'hidden/driver/package.json': '{}', 'node_modules/picture/package.json': '{}' });
  const code = `import { findPackage } from ${JSON.stringify(join(import.meta.dirname, '../../build/packages.mjs'))};
    console.log(['picture', 'driver'].map((name) => findPackage(name, ${JSON.stringify(root)})).join());`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', code], {
    env: { ...process.env, NODE_PATH: join(root, 'hidden') },
    encoding: 'utf8',
  });
  expect(stdout).toBe(`${join(root, 'node_modules/picture')},\n`);
});
