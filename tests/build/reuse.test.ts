import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { reuse } from '../../build/reuse.mjs';
import { createFolder } from '../support/folder.ts';
import { writeFiles } from './write-files.ts';

const owner = { plugins: [], alias: {}, external: [], helpers: [], moves: [] };
const PACKAGED = 'node_modules/a/index.js';

it('reuses a bundle of the previous build until the engine or a package changes', async () => {
  const root = createFolder(onTestFinished);
  const write = (path: string, text: string) => writeFiles(root, { [path]: text });
  write('src/server/a.ts', root); // a unique key
  write(PACKAGED, 'first');

  /** How often a bundle is made in two builds, with a change between them. */
  async function countBundles(path: string, text: string) {
    const bundle = vi.fn(async () => ({
      metafile: { inputs: { [PACKAGED]: { bytes: 1, imports: [] } }, outputs: {} },
      outputFiles: [{ path: join(root, 'dist/a.js'), contents: Buffer.from('bundled') }],
    }));
    const build = () => reuse('x', { root, dev: false, owner }, bundle);
    const first = await build();
    write(path, text);
    expect(await build()).toEqual(first);
    return bundle.mock.calls.length;
  }
  expect(await countBundles('src/server/product/page.ts', 'changed')).toBe(1);
  expect(await countBundles('src/server/a.ts', `${root} changed`)).toBe(1);
  expect(await countBundles(PACKAGED, 'patched')).toBe(1);
});
