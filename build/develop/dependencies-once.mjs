import { isBuiltin } from 'node:module';
import { basename, relative } from 'node:path';
import * as esbuild from 'esbuild';

/** Folder next to the server's bundle. Code that separates the app's frames from others recognizes its name. */
const folder = 'node_modules';
const namespace = 'dependency';
/** Plugin data of requests that the plugins of the server's bundles make. They leave those to esbuild. */
export const resolving = 'dependency';
const entryNamespace = 'dependency-entry';
const importing = new Set(['import-statement', 'dynamic-import', 'require-call']);

/**
 * Bundles the server's dependencies once, into files next to the server's bundle, which loads them from there. Otherwise
 * they would be linked, written and loaded again on every edit, although they do not change. All are in one build, so that
 * shared dependencies exist once, above all React.
 *
 * A CommonJS dependency is passed as a single value, in which esbuild finds names as in any bundle. From an ES module,
 * names are imported.
 *
 * @param {string} root
 */
export function dependenciesOnce(root) {
  /** By specifier. */
  const kinds = new Map();
  /** What each of the builds with the plugin imports. The first set is for reused builds. */
  const wantedByBuild = [new Set()];
  let built = new Set();
  let outputFiles = [];

  /** @returns {Promise<{ isModule: boolean, hasDefault: boolean } | undefined>} undefined for a module of the app, or a file that is not code */
  async function judge(build, specifier, where) {
    const found = await build.resolve(specifier, { ...where, pluginData: resolving });
    const { path } = found;
    if (found.errors.length > 0 || found.external || found.namespace !== 'file') return undefined;
    const isOthers = relative(root, path).includes('node_modules');
    if (!isOthers || !/\.[cm]?js$/.test(path)) return undefined;
    return readFormat(path);
  }

  /** @type {import('esbuild').Plugin} */
  const plugin = {
    name: namespace,
    setup(build) {
      const { external = [] } = build.initialOptions;
      const wanted = new Set();
      wantedByBuild.push(wanted);
      build.onStart(() => wanted.clear());
      build.onResolve({ filter: /^[^./]/ }, async ({ path: specifier, kind, importer, resolveDir, pluginData }) => {
        if (pluginData === resolving || !importing.has(kind)) return undefined;
        if (isBuiltin(specifier) || external.includes(specifier)) return undefined;
        const judged = kinds.get(specifier) ?? (await judge(build, specifier, { kind, importer, resolveDir }));
        if (!judged) return undefined; // not cached, because it can be installed later
        kinds.set(specifier, judged);
        wanted.add(specifier);
        return judged.isModule ? { path: toPath(specifier), external: true } : { path: specifier, namespace };
      });
      build.onResolve({ filter: /^\.\//, namespace }, ({ path }) => ({ path, external: true }));
      build.onLoad({ filter: /.*/, namespace }, ({ path }) => ({
        contents: `module.exports = require(${JSON.stringify(toPath(path))}).default;`,
      }));
    },
  };

  /** Generates the entry module for a dependency's file. */
  const entries = {
    name: entryNamespace,
    setup(build) {
      build.onResolve({ filter: /.*/ }, ({ kind, path }) =>
        kind === 'entry-point' ? { path, namespace: entryNamespace } : undefined,
      );
      build.onLoad({ filter: /.*/, namespace: entryNamespace }, ({ path }) => {
        const { isModule, hasDefault } = kinds.get(path);
        const from = JSON.stringify(path);
        const byDefault = hasDefault ? `export { default } from ${from};` : '';
        return {
          contents: isModule ? `export * from ${from};${byDefault}` : `module.exports = require(${from});`,
          resolveDir: root,
        };
      });
    },
  };

  return {
    plugin,

    /** Dependencies of all builds, to keep with one. */
    list: () => ({ dependencies: [...kinds] }),

    /** Adds the dependencies of a reused build. @param {ReturnType<typeof this.list>} kept */
    add({ dependencies }) {
      for (const [specifier, kind] of dependencies) {
        kinds.set(specifier, kind);
        wantedByBuild[0].add(specifier);
      }
    },

    /**
     * Builds the dependencies of the last builds that are not built yet. An update of a dependency takes effect with the
     * next `npm run dev`.
     *
     * @param {import('esbuild').BuildOptions} options the server's
     * @param {(options: esbuild.BuildOptions) => Promise<Pick<esbuild.BuildResult<{ write: false }>, 'outputFiles'>>} [bundle]
     * @returns {Promise<import('esbuild').OutputFile[]>}
     * @throws {esbuild.BuildFailure}
     */
    async build(options, bundle = esbuild.build) {
      const wanted = new Set(wantedByBuild.flatMap((specifiers) => [...specifiers]));
      if (wanted.isSubsetOf(built)) return outputFiles;
      const specifiers = built.union(wanted);
      const made = await bundle({
        ...options,
        // It would also prefix the names of chunks, which are not URLs.
        publicPath: undefined,
        entryPoints: [...specifiers].sort().map((specifier) => ({ in: specifier, out: toName(specifier) })),
        plugins: [entries, ...options.plugins.filter((other) => other !== plugin)],
        splitting: true,
        chunkNames: `${folder}/[name]-[hash]`,
        outExtension: { '.js': '.mjs' },
        sourcemap: false, // Node would read all of them at each start
      });
      outputFiles = withAssetUrls(made.outputFiles, options.publicPath);
      built = specifiers;
      return outputFiles;
    },
  };
}

/**
 * @param {string} file of code
 * @returns {Promise<{ isModule: boolean, hasDefault: boolean }>}
 */
export async function readFormat(file) {
  const { metafile } = await esbuild.build({ entryPoints: [file], write: false, metafile: true, logLevel: 'silent' });
  const [input] = Object.values(metafile.inputs);
  const [output] = Object.values(metafile.outputs);
  return { isModule: input?.format === 'esm', hasDefault: output?.exports.includes('default') ?? false };
}

/**
 * Replaces paths of assets in bundles with their URLs, for a build without `publicPath`.
 *
 * @param {{ path: string, contents: Uint8Array }[]} files
 * @param {string} publicPath
 */
export function withAssetUrls(files, publicPath) {
  const isModule = ({ path }) => /\.m?js$/.test(path);
  const assets = files.filter(({ path }) => /[\\/]assets[\\/]/.test(path)).map(({ path }) => basename(path));
  if (assets.length === 0) return files;
  const pattern = new RegExp(`"(?:\\.{1,2}/)+(assets/(?:${assets.map(RegExp.escape).join('|')}))"`, 'g');
  return files.map((file) =>
    isModule(file)
      ? {
          path: file.path,
          contents: Buffer.from(Buffer.from(file.contents).toString().replace(pattern, `"${publicPath}$1"`)),
        }
      : file,
  );
}

/** Returns the import path of a dependency in the server's bundle. */
function toPath(specifier) {
  return `./${toName(specifier)}.mjs`;
}

function toName(specifier) {
  return `${folder}/${specifier.replaceAll(':', '/')}`;
}
