import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { reuse } from '../../build/reuse.mjs';

const owner = { plugins: [], alias: {}, helpers: [], moves: [] };

function createProject(): { root: string; write(path: string, text: string): void } {
  const root = mkdtempSync(join(tmpdir(), 'spillway-reuse-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const write = (path: string, text: string) => {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  write('src/server/engine/a.ts', root); // a unique key
  return { root, write };
}

/** A bundler that counts its calls. */
function createBundler(root: string, input = 'src/server/engine/a.ts') {
  return vi.fn(async () => ({
    metafile: { inputs: { [input]: { bytes: 1, imports: [] } }, outputs: {} },
    outputFiles: [{ path: join(root, 'dist/a.js'), contents: Buffer.from('bundled') }],
  }));
}

it('reuses a bundle of the previous build until the engine changes', async () => {
  const { root, write } = createProject();
  const bundle = createBundler(root);
  const options = { root, dev: false, owner };
  const first = await reuse('x', options, bundle);
  write('src/server/product/page.ts', 'changed');
  const second = await reuse('x', options, bundle);
  expect(bundle).toHaveBeenCalledOnce();
  expect(second.outputFiles.map(({ path, contents }) => [path, String(contents)])).toEqual(
    first.outputFiles.map(({ path, contents }) => [path, String(contents)]),
  );
  expect(second.metafile).toEqual(first.metafile);
  await reuse('y', options, bundle);
  write('src/server/engine/a.ts', `${root} changed`);
  await reuse('x', options, bundle);
  expect(bundle).toHaveBeenCalledTimes(3);
});

it.each([
  ['contains files of the product', 'src/shared/product/a.ts', {}],
  ['uses a plugin of the product', undefined, { owner: { ...owner, plugins: [{ name: 'own', setup() {} }] } }],
  ['uses an alias of the product', undefined, { owner: { ...owner, alias: { a: 'b' } } }],
])('does not reuse a bundle that %s', async (_, input, change) => {
  const { root } = createProject();
  const bundle = createBundler(root, input);
  const options = { root, dev: false, owner, ...change };
  await reuse('x', options, bundle);
  await reuse('x', options, bundle);
  expect(bundle).toHaveBeenCalledTimes(2);
});

it('keeps the bundles of development and of other entry points apart', async () => {
  const { root } = createProject();
  const bundle = createBundler(root);
  const options = { root, dev: false, owner };
  for (const other of [options, { ...options, dev: true }, { ...options, entries: ['a'] }]) {
    await reuse('x', other, bundle);
  }
  expect(bundle).toHaveBeenCalledTimes(3);
});

it('does not reuse a bundle if a file of a package was changed', async () => {
  const { root, write } = createProject();
  write('node_modules/a/index.js', 'first');
  const bundle = createBundler(root, 'node_modules/a/index.js');
  const options = { root, dev: false, owner };
  await reuse('x', options, bundle);
  await reuse('x', options, bundle);
  expect(bundle).toHaveBeenCalledOnce();
  write('node_modules/a/index.js', 'patched');
  await reuse('x', options, bundle);
  expect(bundle).toHaveBeenCalledTimes(2);
});
