import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { reuse } from '../../build/reuse.mjs';
import { createFolder } from '../support/folder.ts';
import { writeFiles } from './write-files.ts';

const owner = { plugins: [], alias: {}, external: [], helpers: [], moves: [] };

let project: { root: string; write(path: string, text: string): void };
beforeEach(() => {
  const root = createFolder(onTestFinished);
  const write = (path: string, text: string) => writeFiles(root, { [path]: text });
  write('src/server/a.ts', root); // a unique key
  project = { root, write };
});

/** A bundler that counts its calls. */
function createBundler(root: string, input = 'src/server/a.ts') {
  return vi.fn(async () => ({
    metafile: { inputs: { [input]: { bytes: 1, imports: [] } }, outputs: {} },
    outputFiles: [{ path: join(root, 'dist/a.js'), contents: Buffer.from('bundled') }],
  }));
}

/** How often a bundle is made in two builds, with `change` between them. */
async function countBundles(options: Partial<Parameters<typeof reuse>[1]>, input?: string, change?: () => void) {
  const { root } = project;
  const bundle = createBundler(root, input);
  const all = { root, dev: false, owner, ...options };
  const first = await reuse('x', all, bundle);
  change?.();
  const second = await reuse('x', all, bundle);
  const toText = ({ outputFiles }: typeof first) => outputFiles.map(({ path, contents }) => [path, String(contents)]);
  expect(toText(second)).toEqual(toText(first));
  expect(second.metafile).toEqual(first.metafile);
  return bundle.mock.calls.length;
}

it('reuses a bundle of the previous build until the engine or a package changes', async () => {
  const { root, write } = project;
  const packaged = 'node_modules/a/index.js';
  write(packaged, 'first');
  expect(await countBundles({}, packaged, () => write('src/server/product/page.ts', 'changed'))).toBe(1);
  expect(await countBundles({}, packaged, () => write('src/server/a.ts', `${root} changed`))).toBe(1);
  expect(await countBundles({}, packaged, () => write(packaged, 'patched'))).toBe(1);
});

it('keeps the bundles of development, of other entry points and of other external packages apart', async () => {
  expect(await countBundles({})).toBe(1);
  expect(await countBundles({ dev: true })).toBeGreaterThan(0); // it is written in the background
  expect(await countBundles({ entries: ['a'] })).toBe(1);
  expect(await countBundles({ owner: { ...owner, external: ['nodemailer'] } })).toBe(1);
  expect(await countBundles({})).toBe(0);
});

it.each([
  ['contains files of the product', 'src/shared/product/a.ts', {}],
  ['uses a plugin of the product', undefined, { owner: { ...owner, plugins: [{ name: 'own', setup() {} }] } }],
  ['uses an alias of the product', undefined, { owner: { ...owner, alias: { a: 'b' } } }],
])('does not reuse a bundle that %s', async (_, input, options) => {
  expect(await countBundles(options, input)).toBe(2);
});
