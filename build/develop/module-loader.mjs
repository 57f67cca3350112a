import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import * as esbuild from 'esbuild';
import { compileModule, readModule } from './module-code.mjs';

/**
 * @typedef {object} Found where an import leads
 * @property {string} path absolute, if the namespace is `file`
 * @property {string} namespace
 * @property {boolean} external
 *
 * @typedef {object} Request an import, for `load`
 * @property {string} specifier
 * @property {string} importer absolute
 * @property {string} resolveDir
 *
 * @typedef {object} Loaded
 * @property {import('./module-code.mjs').ModuleCode} code
 * @property {import('esbuild').OutputFile[]} assets
 * @property {string[]} files absolute: the files and folders from which it was made
 */

const namespace = 'request';
const codeFile = /\.[cm]?([jt]sx?)$/;
const codeLoaders = new Set(['js', 'jsx', 'ts', 'tsx']);

/**
 * Loads modules of the client one by one. Modules that no plugin wants are read and compiled directly. All others are
 * resolved and loaded by esbuild, with the plugins of the build.
 *
 * @param {string} root
 * @param {import('esbuild').BuildOptions} base the client's options
 * @param {readonly import('esbuild').Plugin[]} owners plugins of the product, which are also in the options
 */
export function createModuleLoader(root, base, owners) {
  /** The filters of the product's plugins. */
  const filters = { onResolve: [], onLoad: [] };
  /** Where packages and names of package.json lead, by specifier. */
  const packages = new Map();
  /** Runs `owners` only once for their filters. */
  let noted;

  /** Runs esbuild with one entry point, of which it sees no imports: code is replaced by nothing. */
  async function run(toEntry, onLoaded) {
    return await esbuild.build({
      ...base,
      entryPoints: [{ in: namespace, out: namespace }],
      entryNames: '[name]',
      splitting: false,
      sourcemap: false,
      plugins: [
        {
          name: namespace,
          setup(build) {
            build.onResolve({ filter: new RegExp(`^${namespace}$`) }, ({ kind }) =>
              kind === 'entry-point' ? toEntry(build) : undefined,
            );
            build.onLoad({ filter: /.*/, namespace }, () => ({ contents: '' }));
          },
        },
        ...(base.plugins ?? []).map((plugin) => watchLoads(plugin, onLoaded)),
        {
          name: `${namespace}-code`,
          setup: (build) => build.onLoad({ filter: codeFile, namespace: 'file' }, () => ({ contents: '' })),
        },
      ],
    });
  }

  function watchLoads(plugin, onLoaded) {
    return {
      name: plugin.name,
      setup: (build) =>
        plugin.setup({
          ...build,
          onResolve(options, callback) {
            if (!noted && owners.includes(plugin)) filters.onResolve.push(options);
            build.onResolve(options, callback);
          },
          onLoad(options, callback) {
            if (!noted && owners.includes(plugin)) filters.onLoad.push(options);
            build.onLoad(options, async (args) => {
              const result = await callback(args);
              return result ? onLoaded(args, result) : result;
            });
          },
        }),
    };
  }

  /** esbuild resolves in a running build only. */
  async function resolve({ specifier, importer, resolveDir }) {
    let found;
    await run(
      async (build) => {
        found = await build.resolve(specifier, { importer, resolveDir, kind: 'import-statement' });
        return { path: namespace, namespace };
      },
      (_args, result) => result,
    );
    if (found.errors.length > 0) throw Object.assign(new Error('Not found.'), { errors: found.errors });
    return found;
  }

  function isWanted(filtersOfKind, path, where) {
    return filtersOfKind.some(({ filter, namespace: of }) => filter.test(path) && (of ?? where) === where);
  }

  return {
    /** Reads the plugins' filters. */
    async open() {
      await run(
        () => ({ path: namespace, namespace }),
        (_args, result) => result,
      );
      noted = true;
    },

    /**
     * @param {Request} request
     * @returns {Promise<Found>}
     * @throws {esbuild.BuildFailure} without a location
     */
    async resolve(request) {
      const { specifier, resolveDir } = request;
      if (isWanted(filters.onResolve, specifier, 'file')) return resolve(request);
      if (/^\.\.?\//.test(specifier)) {
        const path = join(resolveDir, specifier);
        if (statSync(path, { throwIfNoEntry: false })?.isFile()) return { path, namespace: 'file', external: false };
        return resolve(request);
      }
      const known = packages.get(specifier);
      if (known) return known;
      const finding = resolve(request);
      packages.set(specifier, finding);
      const forget = () => packages.delete(specifier);
      // Files of the product can be moved, and what a plugin finds can change.
      finding.then(({ path, namespace: of }) => (of !== 'file' || !path.includes('node_modules')) && forget(), forget);
      return finding;
    },

    /**
     * @param {Request} request
     * @param {Found} found
     * @param {boolean} isComponents whether React can exchange its components
     * @returns {Promise<Loaded>}
     * @throws {esbuild.BuildFailure}
     */
    async load(request, found, isComponents) {
      const file = relative(root, found.path).replaceAll('\\', '/');
      const compile = async (source, lang) =>
        isComponents
          ? compileModule(file, source, lang, found.path)
          : { ...readModule(await toJs(source, lang)), map: '' };
      const isFile = found.namespace === 'file';
      const lang = isFile ? codeFile.exec(found.path)?.[1] : undefined;
      if (lang && !isWanted(filters.onLoad, found.path, 'file')) {
        return { code: await compile(await readFile(found.path, 'utf8'), lang), assets: [], files: [found.path] };
      }
      let loaded;
      const files = isFile ? [found.path] : [];
      const { outputFiles } = await run(
        async (build) => {
          const { specifier, importer, resolveDir } = request;
          const entry = await build.resolve(specifier, { importer, resolveDir, kind: 'import-statement' });
          const { errors, warnings, path, namespace: of, suffix, pluginData } = entry;
          return { errors, warnings, path, namespace: of, suffix, pluginData };
        },
        (_args, result) => {
          files.push(...(result.watchFiles ?? []), ...(result.watchDirs ?? []));
          if (result.contents === undefined || !codeLoaders.has(result.loader ?? 'js')) return result;
          loaded = { source: Buffer.from(result.contents).toString(), lang: result.loader ?? 'js' };
          return { ...result, contents: '', loader: 'js' };
        },
      );
      // Its filter fits, but the plugin left the file to others.
      if (lang) loaded ??= { source: await readFile(found.path, 'utf8'), lang };
      const isOutput = ({ path }) => path === join(root, base.outdir ?? '', `${namespace}.js`);
      const text = outputFiles.find(isOutput)?.text ?? '';
      const code = loaded ? await compile(loaded.source, loaded.lang) : { ...readModule(text), map: '' };
      return { code, assets: outputFiles.filter((output) => !isOutput(output)), files };
    },
  };
}

async function toJs(source, loader) {
  if (loader === 'js') return source;
  return (await esbuild.transform(source, { loader, jsx: 'automatic', jsxDev: true, logLevel: 'silent' })).code;
}
