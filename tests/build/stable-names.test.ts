import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { build, stop } from 'esbuild';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createStableNames } from '../../build/develop/stable-names.mjs';

const root = mkdtempSync(join(tmpdir(), 'spillway-names-'));
afterAll(async () => {
  await stop();
  rmSync(root, { recursive: true, force: true });
});

/** Each file has its own output, as under `npm run dev`. `c` and `d` import each other. */
const FILES: Readonly<Record<string, string>> = {
  'a.js': "import { b } from './b.js';\nimport { c } from './c.js';\nexport const a = () => [b(), c()];\n",
  'b.js': "export const b = () => 'b';\n",
  'c.js': "import { d } from './d.js';\nexport const c = () => [d];\n",
  'd.js': "import { c } from './c.js';\nexport const d = () => [c];\n",
};

let keepNames: ReturnType<typeof createStableNames>;
/** The files written so far, by name. */
let disk: Map<string, string>;

beforeEach(() => {
  keepNames = createStableNames(root);
  disk = new Map();
});

/** @returns the name of each file's output, and esbuild's own name for it */
async function buildFiles(files: Readonly<Record<string, string>>) {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
  const built = await build({
    absWorkingDir: root,
    entryPoints: Object.keys(files).sort(),
    outdir: 'out',
    entryNames: '[name]-[hash]',
    chunkNames: 'chunk-[hash]',
    format: 'esm',
    bundle: true,
    splitting: true,
    sourcemap: 'linked',
    metafile: true,
    write: false,
  });
  const { metafile, outputFiles } = keepNames(built);
  for (const { path, contents } of outputFiles) disk.set(basename(path), Buffer.from(contents).toString());
  const toNames = (outputs: typeof metafile.outputs) =>
    Object.fromEntries(
      Object.entries(outputs).flatMap(([path, { entryPoint }]) => (entryPoint ? [[entryPoint, basename(path)]] : [])),
    );
  return { names: toNames(metafile.outputs), own: toNames(built.metafile.outputs), metafile };
}

/** Returns the names of all files that are loaded with this one, and checks that they exist. */
function load(name: string, loaded = new Set<string>()): Set<string> {
  if (loaded.has(name)) return loaded;
  const text = disk.get(name);
  if (text === undefined) throw new Error(`${name} is not there.`);
  loaded.add(name);
  for (const [, imported = ''] of text.matchAll(/"\.\/([\w-]+\.js)"/g)) load(imported, loaded);
  return loaded;
}

describe('the name of an output', () => {
  it('stays the same if other modules are added or removed, although esbuild changes it', async () => {
    const first = await buildFiles(FILES);
    let renamed = 0;
    for (let count = 1; count <= 12; count++) {
      const others = Array.from({ length: count }, (_, index) => [`${index % 2 ? 'z' : '_'}${index}.js`, 'alert();']);
      const { names, own } = await buildFiles({ ...FILES, ...Object.fromEntries(others) });
      renamed += Object.keys(FILES).filter((file) => own[file] !== first.own[file]).length;
      expect(names).toMatchObject(first.names);
      for (const name of Object.values(names)) load(name ?? '');
    }
    expect(renamed).toBeGreaterThan(0);
  });

  it('changes with its content, and so do the names of its importers, and no others', async () => {
    const { names: before } = await buildFiles(FILES);
    const { names: after } = await buildFiles({ ...FILES, 'b.js': "export const b = () => 'another';\n" });
    expect(Object.keys(FILES).filter((file) => after[file] !== before[file])).toEqual(['a.js', 'b.js']);
    expect([...load(after['a.js'] ?? '')].map((name) => disk.get(name)).join('')).toContain('"another"');
  });

  it('changes if only its source map changes', async () => {
    const { names: before } = await buildFiles(FILES);
    const { names: after } = await buildFiles({ ...FILES, 'b.js': `\n\n${FILES['b.js']}` });
    expect(after['b.js']).not.toBe(before['b.js']);
  });

  it('is the original one if an edit is undone', async () => {
    const { names: before } = await buildFiles(FILES);
    await buildFiles({ ...FILES, 'c.js': "import { d } from './d.js';\nexport const c = () => [d, d];\n" });
    expect((await buildFiles(FILES)).names).toEqual(before);
  });

  it('is listed in the outputs, with those of its imports', async () => {
    await buildFiles(FILES);
    const { metafile } = await buildFiles({ ...FILES, '_.js': 'alert();' });
    for (const { imports } of Object.values(metafile.outputs)) {
      for (const { path } of imports) expect(metafile.outputs).toHaveProperty([path]);
    }
  });
});
