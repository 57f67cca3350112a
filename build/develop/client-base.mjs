import { join, relative } from 'node:path';
import { readFormat } from './dependencies-once.mjs';
import { createKeptContext } from './kept-context.mjs';

const namespace = 'base-entry';

/**
 * Bundles what the product imports of engine and packages, once. The modules of the product import the outputs.
 *
 * @param {string} root
 * @param {import('esbuild').BuildOptions} options the client's
 * @param {{ entry: string, wiring: string, wiringUrl: string, owner: import('../owner.mjs').OwnersBuild }} parts
 *   `wiring` connects engine and product
 */
export function createClientBase(root, options, { entry, wiring, wiringUrl, owner }) {
  /** The format of each file that the product imports. */
  const formats = new Map();
  let key;
  let context;
  let built;

  const plugin = {
    name: namespace,
    setup(build) {
      build.onResolve({ filter: /.*/ }, ({ kind, path }) =>
        kind === 'entry-point' && formats.has(path) ? { path, namespace } : undefined,
      );
      build.onLoad({ filter: /.*/, namespace }, ({ path }) => {
        const { isModule, hasDefault } = formats.get(path);
        const from = JSON.stringify(join(root, path));
        const byDefault = hasDefault ? `export { default } from ${from};` : '';
        return {
          contents: isModule ? `export * from ${from};${byDefault}` : `module.exports = require(${from});`,
          resolveDir: root,
        };
      });
      build.onResolve({ filter: /\/main\.tsx$/ }, ({ path, resolveDir }) =>
        join(resolveDir, path) === join(root, wiring) ? { path: wiringUrl, external: true } : undefined,
      );
    },
  };

  return {
    dispose: () => context?.dispose(),

    /** Names of a CommonJS module cannot be imported: its value is the default export. */
    isCommonJs: (file) => formats.get(file)?.isModule === false,

    /**
     * @param {readonly string[]} files that the product imports, relative to the root
     * @param {(metafile: import('esbuild').Metafile) => boolean} isChanged
     * @returns the build, the URL of each file, and the names that each exports
     * @throws {import('esbuild').BuildFailure}
     */
    async build(files, isChanged) {
      // One that is no longer imported stays, because open pages would reload without it.
      const added = files.filter((file) => !formats.has(file));
      if (built && added.length === 0 && !isChanged(built.metafile)) return built;
      built = undefined;
      await Promise.all(added.map(async (file) => formats.set(file, await readFormat(join(root, file)))));
      const entries = [...formats.keys()].sort();
      if (entries.join('\n') !== key) {
        await context?.dispose();
        const bundle = {
          ...options,
          entryPoints: [entry, ...entries].map((file) => ({ in: file, out: toName(file) })),
          entryNames: 'assets/[name]-[hash]',
          sourcemap: /** @type {const} */ ('linked'),
          sourceRoot: undefined,
          plugins: [plugin, ...(options.plugins ?? [])],
        };
        context = createKeptContext('client-base', bundle, { root, owner });
        key = entries.join('\n');
      }
      const { metafile, outputFiles } = await context.rebuild();
      const urls = new Map();
      const exports = new Map();
      for (const [path, output] of Object.entries(metafile.outputs)) {
        const file = output.entryPoint?.replace(`${namespace}:`, '');
        if (file === undefined) continue;
        urls.set(file, `/${relative(options.outdir ?? '', path).replaceAll('\\', '/')}`);
        exports.set(file, new Set(output.exports));
      }
      built = { metafile, outputFiles, urls, exports };
      return built;
    },
  };
}

/** A name for people, which the hash makes unique. */
function toName(file) {
  const [, name = file] = /^.*node_modules\/(.+)$/.exec(file) ?? [];
  return name.replace(/^src\//, '').replace(/[^\w]+/g, '-');
}
