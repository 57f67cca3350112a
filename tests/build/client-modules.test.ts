import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type BuildOptions, build, type Loader, type Plugin } from 'esbuild';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createBase } from '../../build/develop/base.mjs';
import { createClientModules } from '../../build/develop/client-modules.mjs';
import { excerpts } from '../../build/excerpts.mjs';
import { assetLoaders, createStyles } from '../../build/styles.mjs';
import { createFolder } from '../support/folder.ts';
import { writeFiles } from './write-files.ts';

const PRODUCT = 'src/shared/product/';
const HOME = `${PRODUCT}home.tsx`;

let root: string;
let modules: ReturnType<typeof createClientModules>;
let base: ReturnType<typeof createBase>;
let options: BuildOptions;

beforeEach(async () => {
  root = realpathSync(createFolder(onTestFinished));
  writeFiles(root, {
    'package.json': '{ "type": "module" }',
    'node_modules/old/package.json': '{ "main": "main.js" }',
    'node_modules/old/main.js': `module.exports = function old() { return 'called'; }; module.exports.named = 'named'; exports = module.exports; exports.count = 0; exports.next = () => ++exports.count;`,
    'node_modules/new/package.json': '{ "exports": "./new.mjs" }',
    'node_modules/new/new.mjs': `export { next } from 'old'; export default 'by default'; export const part = 1;`,
    'node_modules/react/package.json': '{}',
    'node_modules/react/jsx-dev-runtime.js': 'exports.jsxDEV = (type, props) => [type, props];',
    'src/client/develop/entry.ts': `globalThis.started = import('../main.tsx');`,
    'src/client/main.tsx': `import { routes } from '../shared/product/routes.tsx'; import { shown } from './product/index.ts'; export { routes, shown };`,
    'src/client/product/index.ts': `export const shown = 1;`,
    [`${PRODUCT}routes.tsx`]: `export const routes = [{ id: 'home', page: () => import('./home.tsx') }];`,
    [HOME]: 'export default function Home() { return 1; }',
  });
  await open();
});

async function open(owners: Plugin[] = []): Promise<void> {
  const styles = createStyles(root, {
    minify: false,
    target: 'es2022',
    outdir: join(root, 'dist/client'),
    plugins: owners,
  });
  options = {
    absWorkingDir: root,
    entryPoints: { main: 'src/client/develop/entry.ts' },
    entryNames: 'assets/[name]',
    outdir: 'dist/client',
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'browser',
    splitting: true,
    logLevel: 'silent',
    publicPath: '/',
    assetNames: 'assets/[name]-[hash]',
    chunkNames: 'assets/[name]-[hash]',
    loader: assetLoaders as Record<string, Loader>,
    jsx: 'automatic',
    jsxDev: true,
    sourcemap: 'external',
    plugins: [styles.plugin, excerpts(root), ...owners],
  };
  modules = createClientModules(root, options, {
    wiring: 'src/client/main.tsx',
    table: `${PRODUCT}routes.tsx`,
    outdir: 'dist/client',
  });
  const atUrl: Plugin = {
    name: 'modules',
    setup: (build) => build.onResolve({ filter: /^\/_dev\// }, ({ path }) => ({ path, external: true })),
  };
  base = createBase(
    'base of a test',
    root,
    { ...options, plugins: [atUrl, ...(options.plugins ?? [])] },
    {
      owner: { plugins: [...owners, atUrl], alias: {}, external: [], helpers: [], moves: [] }, // so that nothing is reused
      at: 'src/client/main.tsx',
      toSource: () => `await import(${JSON.stringify(modules.wiringUrl)});`,
    },
  );
}

/** Saves files, builds, and writes the build. */
async function save(files: Readonly<Record<string, string>>): Promise<void> {
  writeFiles(root, files);
  await modules.update([HOME], Object.keys(files));
  const built = await base.build(modules.baseFiles, () => false);
  for (const { path, contents } of [...built.outputFiles, ...modules.emit()]) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, contents);
  }
}

/** Loads modules as a browser does, in a separate process, and returns what `home.tsx` exports as `seen`. */
function see(): unknown {
  const script = `
    import { registerHooks } from 'node:module';
    import { pathToFileURL } from 'node:url';
    registerHooks({ resolve(specifier, context, next) {
      if (!/^\\/(?:_dev|assets)\\//.test(specifier)) return next(specifier, context);
      const [path, search] = specifier.split('?');
      return { url: pathToFileURL(${JSON.stringify(join(root, 'dist/client'))} + path) + '?' + search, format: 'module', shortCircuit: true };
    } });
    const urls = ${JSON.stringify(modules.listUrls())};
    globalThis.__spillway = { evaluated: new Set(), register() {}, createSignature: () => (type) => type, load: (file) => import(urls[file]) };
    await import('/assets/main.js');
    await globalThis.started;
    const { routes } = await import(${JSON.stringify(modules.wiringUrl)});
    console.log(JSON.stringify((await routes[0].page()).seen));`;
  return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }));
}

describe('an import', () => {
  test('of a CommonJS package has its value as default, and its names', async () => {
    await save({
      [HOME]: `import old, { named } from 'old';
import * as all from 'old';
export { next as renamed } from 'old';
export * as again from 'old';
import { next } from './part.ts';
const late = await import('old');
next();
export const seen = [old(), named, all.count, all.default === old, late.default === old, late.named];`,
      [`${PRODUCT}part.ts`]: `export * from 'new';`,
    });
    expect(see()).toEqual(['called', 'named', 1, true, true, 'named']);
  });

  test('of an ES module has its exports, and what packages share exists once', async () => {
    await save({
      [HOME]: `import byDefault, { next, part } from 'new';
import old from 'old';
next();
export const seen = [byDefault, part, old.count];`,
    });
    expect(see()).toEqual(['by default', 1, 1]);
  });

  test('of JSON and of an image is resolved as in a bundle', async () => {
    await save({
      [HOME]: `import data, { name } from './data.json';
import image from './image.svg';
export const seen = [data, name, image];`,
      [`${PRODUCT}data.json`]: '{ "name": "value" }',
      [`${PRODUCT}image.svg`]: '<svg/>',
    });
    expect(see()).toEqual([{ name: 'value' }, 'value', expect.stringMatching(/^\/assets\/image-\w+\.svg$/)]);
  });

  test('of a CSS module has the same class names as a bundle of the server', async () => {
    const files = {
      [HOME]: `import styles from './home.module.css';\nexport const seen = styles.title;`,
      [`${PRODUCT}home.module.css`]: '.title { color: red }',
    };
    await save(files);
    const { outputFiles } = await build({
      ...options,
      entryPoints: [HOME],
      platform: 'node',
      splitting: false,
      sourcemap: false,
    });
    const seen = see();
    expect(seen).toMatch(/^home_\w+_title$/);
    expect(outputFiles?.[0]?.text).toContain(`"${seen}"`);
  });
});

test('an edit that is undone has another URL, because a browser evaluates each URL once', async () => {
  const urls = [];
  for (const seen of [1, 2, 1]) {
    await save({ [HOME]: `export const seen = ${seen};` });
    urls.push((modules.listUrls() as Record<string, string>)[HOME]);
  }
  expect(new Set(urls).size).toBe(3);
  expect(see()).toBe(1);
});

describe("the product's plugins", () => {
  test('load modules, which are then compiled for Fast Refresh, and resolve imports', async () => {
    const shouting: Plugin = {
      name: 'shouting',
      setup({ onLoad, onResolve }) {
        onLoad({ filter: /\.loud\.tsx$/ }, () => ({
          contents: 'export function Loud() { return "LOUD"; }',
          loader: 'tsx',
        }));
        onResolve({ filter: /^virtual:/ }, ({ path }) => ({ path, namespace: 'virtual', pluginData: { value: 7 } }));
        onLoad({ filter: /.*/, namespace: 'virtual' }, ({ pluginData }) => ({
          contents: `export const store = { value: ${pluginData.value} };`,
          watchFiles: [join(root, 'words.txt')],
        }));
      },
    };
    await open([shouting]);
    await save({
      [HOME]: `import { Loud } from './part.loud.tsx';
import { store } from 'virtual:store';
import { other } from './other.ts';
store.value += 1;
export const seen = [Loud(), other.value];`,
      [`${PRODUCT}part.loud.tsx`]: '',
      [`${PRODUCT}other.ts`]: `export { store as other } from 'virtual:store';`,
    });
    expect(see()).toEqual(['LOUD', 8]);
    expect(Object.keys(modules.listUrls())).toContain(`${PRODUCT}part.loud.tsx`);
  });
});

test('a name that #engine does not have is a mistake at its line, as in the build', async () => {
  const text =
    "import { Form, type Props } from '#engine';\nexport default function Home(props: Props) { return Form; }";
  writeFiles(root, {
    'package.json': '{ "type": "module", "imports": { "#engine": "./src/shared/index.ts" } }',
    'src/shared/index.ts': "export type Props = object;\nexport { Link } from './link.ts';",
    'src/shared/link.ts': 'export const Link = 1;',
  });
  await expect(save({ [HOME]: text })).rejects.toMatchObject({
    errors: [
      {
        text: 'No matching export in "src/shared/index.ts" for import "Form"',
        location: { file: HOME, line: 1, column: 9 },
      },
    ],
  });
  await save({ [HOME]: text.replaceAll('Form', 'Link') });
});

test('a page without a file is a mistake at its line of the route table', async () => {
  const [table, page] = [`${PRODUCT}routes.tsx`, `${PRODUCT}about.tsx`];
  writeFiles(root, {
    [table]: "export const routes = [\n  { id: 'about', page: () => import('./about.tsx') },\n];",
  });
  await expect(modules.update([page], [table])).rejects.toMatchObject({
    errors: [{ text: `Could not resolve "${page}"`, location: { file: table, line: 2 } }],
  });
});
