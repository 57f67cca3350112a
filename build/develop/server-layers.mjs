import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import * as esbuild from 'esbuild';
import { isInProduct } from '../../src/shared/whose-code.mjs';
import { findDesk } from '../apps.mjs';
import { formatWarnings, serverOptions } from '../bundles.mjs';
import { toRelative } from '../files.mjs';
import { indexes, listReExports } from '../import-by-name.mjs';
import { createBase, inBase, loadFromBase, toBaseFile } from './base.mjs';

/** Waits with engine and packages loaded, then runs `main`, the only module that imports the product. */
const entry = 'src/server/main-develop.ts';
const main = 'src/server/main.ts';
const resolving = 'layer';

/**
 * Bundles the server in two layers, so that an edit of the product links only the product's own modules: the product, and
 * everything else, which a server loads ahead of the next edit.
 *
 * @param {{ root: string, outdir: string, owner: import('../owner.mjs').OwnersBuild, styles: ReturnType<typeof import('../styles.mjs').createStyles>, warn: (line: string) => void }} options
 */
export function createServerLayers({ root, outdir, owner, styles, warn }) {
  const options = serverOptions({ root, dev: true, owner, styles, outdir, warn });
  const common = {
    ...options,
    sourceRoot: undefined,
    // With it, each name that the product imports would be another file of the engine.
    plugins: options.plugins.filter(({ name }) => name !== 'engine-by-name'),
  };
  const baseFiles = new Set();
  /** What a specifier is, for each that has been found: undefined if it stays in the product. */
  const found = new Map();
  let context;
  let product;

  const toProduct = {
    name: 'to-product',
    setup(build) {
      build.onResolve({ filter: /\/product\// }, ({ path, resolveDir }) => {
        const file = toRelative(root, join(resolveDir, path));
        return isInProduct(file) ? { path: `./${toName(file)}.js`, external: true } : undefined;
      });
    },
  };

  /** Relative imports stay in the product: a call of a plugin for each would take longer than the build. */
  const toBase = {
    name: 'to-base',
    setup(build) {
      build.onResolve({ filter: /^[^./]/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
        if (kind === 'entry-point' || pluginData === resolving) return undefined;
        if (found.has(path)) return found.get(path);
        const resolved = await build.resolve(path, { kind, importer, resolveDir, pluginData: resolving });
        if (resolved.errors.length > 0) return undefined;
        const file = toRelative(root, resolved.path);
        const isFile = resolved.namespace === 'file' && !resolved.external;
        const isBase = isFile && /\.[cm]?[jt]sx?$/.test(file) && !isInProduct(file);
        if (isBase) baseFiles.add(file);
        found.set(path, isBase ? inBase(file) : undefined);
        return found.get(path);
      });
      // esbuild misses no name of a CommonJS module: one that the engine does not export would be undefined.
      build.onLoad({ filter: /^src\/[\w/]+\.ts\//, namespace: 'base' }, async ({ path }) => {
        const file = toBaseFile(path);
        if (!Object.values(indexes).includes(file)) return undefined;
        const names = [...listReExports(await readFile(join(root, file), 'utf8')).keys()];
        return { contents: `export const { ${names} } = globalThis.__spillwayBase[${JSON.stringify(file)}];` };
      });
      loadFromBase(build);
    },
  };

  /** Loads the desk too, if the app has it. */
  async function toSource() {
    const loaded = findDesk(root).loaded.map((file) => `import ${JSON.stringify(join(root, file))};\n`);
    return loaded.join('') + (await readFile(join(root, entry), 'utf8'));
  }

  const base = createBase(
    'server-base',
    root,
    // With them, esbuild forgets to evaluate a module that is also imported late, if it drops the one that re-exports it.
    {
      ...common,
      ignoreAnnotations: true,
      sourcesContent: false,
      entryPoints: { develop: entry },
      plugins: [toProduct, ...common.plugins],
    },
    { owner, at: entry, toSource, mayFail: true },
  );

  async function openProduct() {
    const text = await readFile(join(root, main), 'utf8');
    const imported = [...text.matchAll(/'(\.[^']*\/product\/[^']*)'/g)];
    const files = imported.map(([, path]) => toRelative(root, join(root, dirname(main), path)));
    return esbuild.context({
      ...common,
      entryPoints: files.map((file) => ({ in: file, out: toName(file) })),
      splitting: true,
      chunkNames: 'product-[hash]',
      plugins: [toBase, ...common.plugins],
    });
  }

  return {
    dispose: () => context?.dispose(),

    /** Call it if esbuild's service has ended, and its contexts with it. */
    forgetService() {
      context = undefined;
    },

    /**
     * @param {(metafile: import('esbuild').Metafile) => boolean} isChanged whether one of a layer's files changed
     * @param {boolean} isExact drops files of the base that the product no longer imports: one of them can be why the last
     *   server did not start. Otherwise they stay, because an edit often imports them again
     * @returns the files of the server, and of them those that stay loaded in a server that waits
     */
    async build(isChanged, isExact) {
      if (!product || isChanged(product.metafile)) {
        product = undefined;
        context ??= await openProduct();
        const { metafile, outputFiles, warnings } = await context.rebuild();
        for (const warning of await formatWarnings(warnings)) warn(warning);
        product = { metafile, outputFiles: toLoadable(outputFiles) };
      }
      if (isExact) {
        const used = new Set(Object.keys(product.metafile.inputs).map(toBaseFile));
        for (const file of baseFiles) if (!used.has(file)) baseFiles.delete(file);
        found.clear();
      }
      const { outputFiles: lasting, metafile } = await base.build(baseFiles, isChanged);
      const inputs = { ...product.metafile.inputs, ...metafile.inputs };
      return { outputFiles: [...product.outputFiles, ...lasting], lasting, inputs };
    },
  };
}

/**
 * The URL prefix of assets is also that of chunks, which are not URLs on the server. And a file of the base is an object
 * of all exports, also where esbuild takes it for a CommonJS file whose default export is the whole object.
 */
function toLoadable(outputs) {
  const texts = outputs.filter(({ path }) => path.endsWith('.js')).map(({ path, text }) => ({ path, text }));
  const inBase = texts.filter(({ text }) => /^export default require_from_base\d*\(\);$/m.test(text));
  const names = new Set(inBase.map(({ path }) => basename(path)));
  const loadable = texts.map(({ path, text }) => {
    const changed = text
      .replaceAll('"/product-', '"./product-')
      .replace(/\bimport\("\.\/([^"]+)"\)/g, (all, name) => (names.has(name) ? `${all}.then((it) => it.default)` : all))
      .replace(/(__toESM\(require_from_base\d*\(\)), 1\)/g, '$1)')
      // `export *` copies own names, and those of a file of the base are in its prototype.
      .replace(/(__reExport\(\w+, )(__toESM\(require_from_base\d*\(\)\))/g, '$1Object.getPrototypeOf($2)');
    return { path, contents: Buffer.from(changed) };
  });
  return [...loadable, ...outputs.filter(({ path }) => !path.endsWith('.js'))];
}

const toName = (file) => file.replace(/^src\//, '').replaceAll('/', '~');
