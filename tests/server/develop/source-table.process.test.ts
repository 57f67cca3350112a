import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin, transform } from 'esbuild';
import { expect, it, onTestFinished } from 'vitest';
import { createLocations } from '../../../build/locations.mjs';
import { mapSource } from '../../../build/unbundled-maps.mjs';
import { createSourceTable } from '../../../src/server/develop/source-table.ts';
import { createDigest } from '../../../src/server/errors/digest/create-digest.ts';
import { loadLocationTable, parseLocationTable } from '../../../src/server/errors/digest/location-table.ts';
import type { StackFrame } from '../../../src/server/errors/failure.ts';
import { bundleProject, failIn } from '../../support/bundled-project.ts';
import { createFolder } from '../../support/folder.ts';

const FILES = {
  'src/cart.ts': `import { invariant } from './invariant.ts';

export const cart = {
  check(count: number): void {
    invariant(count > 0, 'The cart is empty.');
  },
};
`,
  'src/invariant.ts': `export function invariant(isTrue: boolean, message: string): void {
  if (!isTrue) throw new Error(message);
}
`,
  'src/main.ts': `import { cart } from './cart.ts';
export const fail = () => cart.check(0);
`,
};

function openDevelopment(root: string) {
  const devFolder = join(root, 'dist-dev');
  mkdirSync(devFolder);
  writeFileSync(join(devFolder, 'owner.json'), JSON.stringify({ helpers: [], moves: [] }));
  symlinkSync(fileURLToPath(new URL('../../../build', import.meta.url)), join(root, 'build'));
  const run = (file: string) => failIn(join(root, file), devFolder, ['--enable-source-maps']);
  return {
    table: createSourceTable(devFolder),
    /** Runs the sources, whose positions are those of the source maps that Node applies in development. */
    failInSource: () => run('src/main.ts'),
    failInBundle: () => run('dist-dev/server/main.js'),
  };
}

function digestOf(frames: readonly StackFrame[], table: ReturnType<typeof createSourceTable>) {
  const errors = [{ class: 'Error', message: 'The cart is empty.', frames: [...frames] }];
  return createDigest({ side: 'server', errors }, { namespace: 'n', table });
}

it('has the same digest for each way to end a line', async () => {
  const body = '    // a line\n'.repeat(30);
  const source = `export const cart = {\n  before() {\n${body}  },\n  check(count: number): void {\n    if (count < 1) throw new Error('The cart is empty.');\n  },\n  after() {\n${body}  },\n};\n`;
  const found: ReturnType<typeof digestOf>[] = [];
  for (const end of ['\n', '\r\n', '\r', '\u2028', '\u2029']) {
    const text = source.replaceAll('\n', end);
    const root = createFolder(onTestFinished);
    const { dist, fail } = await bundleProject(root, { ...FILES, 'src/cart.ts': text });
    const { table, failInSource } = openDevelopment(root);
    const unbundled = parseLocationTable(createLocations(root, [mapSource('src/cart.ts', text)]));
    const frames = failInSource();
    found.push(
      digestOf(fail(), loadLocationTable(dist)),
      digestOf(frames, table),
      digestOf(frames.slice(0, 1), unbundled),
    );
  }
  expect(found[0]?.location).toMatchObject({ path: 'src/cart.ts', function: 'cart.check' });
  expect(found).toEqual(found.map(() => found[0]));
});

/** A plugin that puts code before a module, as compilers do. */
const prefix: Plugin = {
  name: 'prefix',
  setup({ onLoad }) {
    onLoad({ filter: /cart\.ts$/ }, async ({ path }) => {
      const { code } = await transform(await readFile(path, 'utf8'), {
        loader: 'ts',
        banner: 'export const added = [\n  1,\n  2,\n];',
        sourcemap: 'inline',
        sourcefile: basename(path),
      });
      return { contents: code, loader: 'js' };
    });
  },
};

it('has the same digest for the output of a plugin with a source map', async () => {
  const cart = 'src/shared/product/cart.ts';
  const text = `// A comment, which compilers remove\n\nexport const cart = {\n  check(count: number): void {\n    if (count < 1) throw new Error('The cart is empty.');\n  },\n};\n`;
  const root = createFolder(onTestFinished);
  const main = `import { cart } from './shared/product/cart.ts';\nexport const fail = () => cart.check(0);\n`;
  const { dist, fail } = await bundleProject(root, { [cart]: text, 'src/main.ts': main }, [prefix]);
  const expected = digestOf(fail(), loadLocationTable(dist));
  expect(expected.location).toMatchObject({ path: cart, function: 'cart.check' });

  const { table, failInBundle } = openDevelopment(root);
  await build({
    ...{ absWorkingDir: root, bundle: true, platform: 'node', format: 'esm', sourcemap: 'linked' },
    ...{ entryPoints: ['src/main.ts'], outdir: 'dist-dev/server', plugins: [prefix] },
  });
  expect(digestOf(failInBundle(), table)).toEqual(expected);
  expect(failInBundle()[0]).toMatchObject({ file: cart, line: 5 });
});

it('gives a failure the digest of production, also after its file has changed', async () => {
  const root = createFolder(onTestFinished);
  const { dist, fail } = await bundleProject(root, FILES);
  const expected = digestOf(fail(), loadLocationTable(dist));
  expect(expected.location).toMatchObject({ path: 'src/cart.ts', function: 'cart.check' });

  const { table, failInSource } = openDevelopment(root);
  expect(digestOf(failInSource(), table)).toEqual(expected);

  writeFileSync(join(root, 'src/cart.ts'), `// A new line\n\n${FILES['src/cart.ts']}`);
  expect(digestOf(failInSource(), table)).toEqual(expected);
});
