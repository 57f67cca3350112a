import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type BuildContext, type BuildOptions, context, type OutputFile, type Plugin } from 'esbuild';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { dependenciesOnce } from '../../build/develop/dependencies-once.mjs';

let root: string;
let dependencies: ReturnType<typeof dependenciesOnce>;
let options: BuildOptions;
let server: BuildContext;

beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'spillway-once-')));
  write({
    'package.json': '{ "type": "module" }',
    'node_modules/old/package.json': '{ "main": "main.js" }',
    'node_modules/old/main.js': `
      module.exports = function old() { return 'called'; };
      module.exports.named = require('node:path').basename('/a/named');
      module.exports.count = require('counter');`,
    'node_modules/counter/package.json': '{}',
    'node_modules/counter/index.js': 'exports.all = (exports.all ?? 0) + 1; exports.next = () => ++exports.all;',
    'node_modules/new/package.json': '{ "type": "module", "exports": { ".": "./new.js", "./part": "./part.js" } }',
    'node_modules/new/new.js': `export { next } from 'counter'; export default 'by default'; export * from './part.js';`,
    'node_modules/new/part.js': 'export const part = 1;',
    'node_modules/@acme/icons/package.json': '{ "type": "module", "exports": "./icons.js" }',
    'node_modules/@acme/icons/icons.js': `import icon from './icon.svg'; export { icon };`,
    'node_modules/@acme/icons/icon.svg': '<svg/>',
    'packages/ours/package.json': '{ "type": "module", "exports": "./ours.js" }',
    'packages/ours/ours.js': `export const ours = 'a part of the application';`,
  });
  symlinkSync(join(root, 'packages/ours'), join(root, 'node_modules/ours'), 'junction');
  dependencies = dependenciesOnce(root);
  options = {
    absWorkingDir: root,
    outdir: 'dist/server',
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    logLevel: 'silent',
    publicPath: '/',
    assetNames: 'assets/[name]-[hash]',
    loader: { '.svg': 'file' },
    banner: { js: `import { createRequire as __cr } from 'node:module';\nconst require = __cr(import.meta.url);` },
    plugins: [],
  };
  server = await context({ ...options, entryPoints: { main: 'src/main.ts' }, plugins: [dependencies.plugin] });
});
afterEach(async () => {
  await server.dispose();
  rmSync(root, { recursive: true, force: true });
});

function write(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

interface Built {
  /** The server bundle without its dependencies. */
  readonly main: string;
  readonly dependencies: readonly Pick<OutputFile, 'path' | 'contents'>[];
}

async function build(source: string): Promise<Built> {
  write({ 'src/main.ts': source });
  const { outputFiles = [] } = await server.rebuild();
  const others = await dependencies.build(options);
  for (const { path, contents } of [...outputFiles, ...others]) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, contents);
  }
  return { main: outputFiles.map(({ text }) => text).join(''), dependencies: others };
}

/** Runs the bundle in a separate process, and parses its output. */
const run = () => JSON.parse(execFileSync(process.execPath, ['dist/server/main.js'], { cwd: root, encoding: 'utf8' }));
const print = (value: string) => `console.log(JSON.stringify(${value}));`;

describe('a dependency', () => {
  test('in CommonJS can be imported as in a bundle: as default, by name and as namespace', async () => {
    const { main } = await build(
      `import old, { named } from 'old'; import * as all from 'old'; ${print('[old(), named, Object.keys(all).sort()]')}`,
    );
    expect(run()).toEqual(['called', 'named', ['count', 'default', 'named']]);
    expect(main).not.toContain('called');
  });

  test('that is an ES module has its named exports, and its default if there is one', async () => {
    const { main } = await build(
      `import byDefault, { part } from 'new'; import * as door from 'new/part'; ${print('[byDefault, part, Object.keys(door)]')}`,
    );
    expect(run()).toEqual(['by default', 1, ['part']]);
    expect(main).not.toContain('by default');
  });

  test('can be imported dynamically, with the same names', async () => {
    await build(
      `const [old, fresh] = await Promise.all([import('old'), import('new')]); ${print('[old.default(), old.named, fresh.default]')}`,
    );
    expect(run()).toEqual(['called', 'named', 'by default']);
  });

  test('that others depend on too is loaded once', async () => {
    await build(
      `import counter from 'counter'; import { count } from 'old'; import { next } from 'new'; next(); ${print('[counter.all, count.all]')}`,
    );
    expect(run()).toEqual([2, 2]);
  });

  test('includes its assets, under the names that browsers request', async () => {
    const { dependencies: files } = await build(`import { icon } from '@acme/icons'; ${print('icon')}`);
    expect(run()).toMatch(/^\/assets\/icon-\w+\.svg$/);
    expect(files.map(({ path }) => path)).toContainEqual(
      expect.stringMatching(/\/dist\/server\/assets\/icon-\w+\.svg$/),
    );
  });

  test('is bundled again only if a new one is added', async () => {
    const first = await build(`import 'old'; ${print('1')}`);
    expect((await build(`import 'old'; ${print('2')}`)).dependencies).toBe(first.dependencies);
    expect((await build(print('3'))).dependencies).toBe(first.dependencies);
    const next = await build(`import 'old'; import { part } from 'new'; ${print('part')}`);
    expect(next.dependencies).not.toBe(first.dependencies);
    expect(run()).toBe(1);
  });

  test('that is missing fails the build until it is installed', async () => {
    const source = `import { late } from 'late'; ${print('late')}`;
    await expect(build(source)).rejects.toThrow('Could not resolve "late"');
    write({ 'node_modules/late/package.json': '{}', 'node_modules/late/index.js': 'exports.late = true;' });
    await build(source);
    expect(run()).toBe(true);
  });
});

test('a package that a plugin of the product marks as external stays external', async () => {
  await server.dispose();
  const native: Plugin = {
    name: 'native',
    setup: ({ onResolve }) => onResolve({ filter: /^old$/ }, ({ path }) => ({ path, external: true })),
  };
  options = { ...options, plugins: [native] };
  server = await context({ ...options, entryPoints: { main: 'src/main.ts' }, plugins: [dependencies.plugin, native] });
  const { main, dependencies: files } = await build(`import old from 'old'; ${print('old()')}`);
  expect(main).toContain('from "old"');
  expect(files).toEqual([]);
  expect(run()).toBe('called');
});

test('packages of the application, which node_modules links to, are in its bundle', async () => {
  const { main, dependencies: files } = await build(`import { ours } from 'ours'; ${print('ours')}`);
  expect(run()).toBe('a part of the application');
  expect(main).toContain('a part of the application');
  expect(files).toEqual([]);
});
