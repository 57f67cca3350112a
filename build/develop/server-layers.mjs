import { relative } from 'node:path';
import * as esbuild from 'esbuild';
import { serverOptions } from '../bundles.mjs';
import { reuse } from '../reuse.mjs';
import { dependenciesOnce, resolving, withAssetUrls } from './dependencies-once.mjs';
import { createKeptContext } from './kept-context.mjs';

/** Waits with the engine loaded, then imports `main.ts`. */
const entry = 'src/server/boot/develop.ts';
/** It would make each name that the product imports another file of the engine. */
const isFrontDoor = ({ name }) => name === 'engine-by-name';
const isCode = (file) => /\.[cm]?[jt]sx?$/.test(file);

/**
 * The layers of the server, each bundled apart, so that an edit rebuilds only its own. A layer imports others as files.
 * `imports` are the specifiers that can lead out of it: a call of a plugin for each import takes longer than the build.
 */
const layers = {
  /** Small, so that a new loader is built and loaded quickly. */
  product: { owns: (file) => /^src\/server\/(?:product\/|main\.ts$)/.test(file), imports: /^[^/]/ },
  shared: { owns: (file) => file.startsWith('src/shared/product/'), imports: /^[^./]|\/engine\// },
  /** Everything else of the server, and packages of the app that `node_modules` links to. */
  engine: { owns: (file) => !file.includes('node_modules/'), imports: /\/main\.ts$/ },
};

/**
 * Bundles the server in layers, so that an edit of the product links only the product's own modules.
 *
 * @param {{ root: string, outdir: string, owner: import('../owner.mjs').OwnersBuild, styles: ReturnType<typeof import('../styles.mjs').createStyles> }} options
 */
export function createServerLayers({ root, outdir, owner, styles }) {
  const dependencies = dependenciesOnce(root);
  const base = {
    ...serverOptions({ root, dev: true, owner, styles, outdir, warn: () => {} }),
    sourceRoot: undefined,
  };
  const bundleDependencies = (options) =>
    reuse('dependencies', { root, dev: true, owner, entries: options.entryPoints }, () => esbuild.build(options));
  /** What other layers import. */
  const entries = {
    product: new Set(['src/server/main.ts']),
    shared: new Set(),
    engine: new Set([entry, 'src/shared/engine/index.ts', 'src/server/engine/index.ts']),
  };
  const [product, shared, engine] = Object.keys(layers).map((name) => createLayer(name));

  /** Imports modules of other layers as files. Memorizes packages, because few of them are in a layer. */
  function toOthers(name) {
    const packages = new Set();
    return {
      name: 'server-layers',
      setup(build) {
        build.onResolve({ filter: layers[name].imports }, async ({ path, kind, importer, resolveDir, pluginData }) => {
          if (kind === 'entry-point' || pluginData === resolving || packages.has(path)) return undefined;
          const found = await build.resolve(path, { kind, importer, resolveDir, pluginData: resolving });
          const file = relative(root, found.path).replaceAll('\\', '/');
          if (found.errors.length > 0 || found.external || found.namespace !== 'file' || !isCode(file))
            return undefined;
          const owning = Object.keys(layers).find((layer) => layers[layer].owns(file));
          if (owning === undefined) packages.add(path);
          if (owning === undefined || owning === name) return undefined;
          entries[owning].add(file);
          return { path: `./${toName(file)}.js`, external: true };
        });
      },
    };
  }

  function createLayer(name) {
    let context;
    let key;
    let built;
    return {
      dispose: () => context?.dispose(),
      /** @param {(metafile: import('esbuild').Metafile) => boolean} isChanged */
      async build(isChanged) {
        const files = [...entries[name]].sort();
        const isSame = key === files.join('\n');
        if (isSame && built && !isChanged(built.metafile)) return built;
        built = undefined;
        if (!isSame) {
          await context?.dispose();
          const layer = {
            ...base,
            // It would also prefix the names of chunks, which are not URLs.
            publicPath: undefined,
            entryPoints: files.map((file) => ({ in: file, out: toName(file) })),
            splitting: true,
            chunkNames: `${name}-[hash]`,
            plugins: [toOthers(name), dependencies.plugin, ...base.plugins.filter((plugin) => !isFrontDoor(plugin))],
          };
          context =
            name === 'engine'
              ? createKeptContext(name, layer, { root, owner, toExtra: dependencies.list })
              : await esbuild.context(layer);
          key = files.join('\n');
        }
        const { metafile, outputFiles, ...kept } = await context.rebuild();
        if (name === 'engine') dependencies.add(kept);
        built = { metafile, outputFiles: withAssetUrls(outputFiles, base.publicPath) };
        return built;
      },
    };
  }

  return {
    dispose: () => Promise.all([product, shared, engine].map((layer) => layer.dispose())),

    /**
     * @param {(metafile: import('esbuild').Metafile) => boolean} isChanged whether one of a layer's files changed
     * @returns the files of the server, and of them those that stay loaded in a server that waits
     */
    async build(isChanged) {
      const built = await product.build(isChanged);
      const others = await Promise.all([shared.build(isChanged), engine.build(isChanged)]);
      // A layer can import more of the engine than before.
      const last = await engine.build(() => false);
      const lasting = [...last.outputFiles, ...(await dependencies.build(base, bundleDependencies))];
      return { outputFiles: [...built.outputFiles, ...others[0].outputFiles, ...lasting], lasting };
    },
  };
}

/** All layers are in one folder, because their modules name other bundles by relative paths. */
function toName(file) {
  if (file === 'src/server/main.ts') return 'main';
  if (file === entry) return 'develop';
  return file
    .replace(/^src\//, '')
    .replaceAll('../', '')
    .replaceAll('/', '~');
}
