import { readFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import * as esbuild from 'esbuild';
import { isInProduct } from '../../src/shared/whose-code.mjs';
import { refuseServerFile } from '../client-inputs.mjs';
import { toRelative as toRelativeTo } from '../files.mjs';
import { sheetFile } from '../styles.mjs';
import { inBase, loadFromBase } from './base.mjs';
import { compileModule } from './module-code.mjs';
import { listCommonNames } from './star-names.mjs';

const urlFolder = '/_dev/modules/';
/** Plugin data of imports that esbuild resolves. */
const resolving = 'module';
const codeLoaders = new Set(['js', 'jsx', 'ts', 'tsx']);

/**
 * @typedef {object} Module
 * @property {string} text JavaScript, with the URLs of other modules without their versions
 * @property {string} map
 * @property {string[]} files and folders, relative to the root; it can change with these
 * @property {{ key: string, kind: string }[]} imports of other modules
 * @property {string[]} exports names
 * @property {import('esbuild').Metafile['inputs']} inputs
 * @property {import('./module-code.mjs').ModuleFacts | undefined} facts undefined if it is not code
 */

/**
 * Loads modules of the product. Each is an entry point of esbuild, with the plugins of the build. Its imports of other
 * modules stay imports, and engine and packages come from the base (`base.mjs`).
 *
 * @param {string} root
 * @param {import('esbuild').BuildOptions} options the client's
 * @param {{ wiring: string, table: string, outdir: string }} parts as of `createClientModules`
 */
export function createModuleLoader(root, options, { wiring, table, outdir }) {
  /** How a module was imported first, by key. Plugins resolve the import again. */
  const requests = new Map();
  const keysByPath = new Map();
  /** The keys of imports, by importer and specifier. */
  const targets = new Map();
  /** What plugins read to load a file, by its name in the metafile. */
  const watched = new Map();
  const facts = new Map();
  const assets = new Map();
  const baseFiles = new Set();

  const toRelative = (path) => toRelativeTo(root, path);
  const toInput = ({ path, namespace }) => (namespace === 'file' ? toRelative(path) : `${namespace}:${path}`);
  const assetEnds = ['.json', ...Object.keys(options.loader ?? {})];
  const isAsset = (file) => sheetFile.test(file) || assetEnds.some((end) => file.endsWith(end));
  const isModule = (file) => file === wiring || (isInProduct(file) && !/\.c[jt]s$/.test(file) && !isAsset(file));

  function resolve(build, { path, importer, resolveDir }, attributes) {
    const request = { importer, resolveDir, kind: /** @type {const} */ ('import-statement'), with: attributes };
    return build.resolve(path, { ...request, pluginData: resolving });
  }

  /** @type {import('esbuild').Plugin} */
  const apart = {
    name: 'modules-apart',
    setup(build) {
      build.onResolve({ filter: /.*/ }, async (request) => {
        if (request.pluginData === resolving) return undefined;
        const isEntry = request.kind === 'entry-point';
        const asked = isEntry ? requests.get(request.path.slice('module:'.length)) : request;
        const found = await resolve(build, asked, isEntry ? {} : request.with);
        const fail = async (texts) => {
          const name = isAbsolute(asked.path)
            ? `[^"']*${RegExp.escape(basename(asked.path))}`
            : RegExp.escape(asked.path);
          const location = await locate(toRelative(asked.importer), `["']${name}["']`);
          return { errors: texts.map((text) => ({ text: text.replace(`${root}/`, ''), location })) };
        };
        if (found.errors.length > 0) return fail(found.errors.map(({ text }) => text));
        if (isEntry) return found;
        const key = found.external ? found.path : toInput(found);
        const importer = toInput({ path: request.importer, namespace: request.namespace });
        const refused = refuseServerFile(key);
        if (refused) return fail([refused]);
        if (found.external || isAsset(key)) return found;
        if (found.namespace === 'file' && !isModule(key)) {
          baseFiles.add(key);
          return inBase(key);
        }
        const path = toModulePath(key);
        keysByPath.set(path, key);
        targets.set(`${importer} ${request.path}`, key);
        if (!requests.has(key)) requests.set(key, request);
        return { path, external: true };
      });
      loadFromBase(build);
    },
  };

  /** @type {import('esbuild').Plugin} */
  const compiling = {
    name: 'fast-refresh',
    setup(build) {
      build.onLoad({ filter: /\.m?[jt]sx?$/, namespace: 'file' }, async ({ path }) =>
        compile(path, await readFile(path, 'utf8'), /[jt]sx?$/.exec(path)?.[0] ?? 'js'),
      );
    },
  };

  /** @param {import('esbuild').Plugin} plugin one of the client's, whose results are watched */
  function watchLoads({ name, setup }) {
    const onLoad = (build) => (filter, load) => build.onLoad(filter, async (args) => watchLoad(args, await load(args)));
    return { name, setup: (build) => setup({ ...build, onLoad: onLoad(build) }) };
  }

  /** Notes what a plugin reads, and compiles the code that it returns. */
  async function watchLoad(args, result) {
    if (!result) return result;
    const input = toInput(args);
    watched.set(input, [...(result.watchFiles ?? []), ...(result.watchDirs ?? [])].map(toRelative));
    const { contents, loader = 'js' } = result;
    if (contents === undefined || !codeLoaders.has(loader) || !isModule(input)) return result;
    return { ...result, ...(await compile(args.path, Buffer.from(contents).toString(), loader)) };
  }

  async function compile(path, source, lang) {
    const file = toRelative(path);
    const compiled = await compileModule(file, source, lang, path, (specifier) =>
      listExported(specifier, dirname(path)),
    );
    facts.set(file, compiled?.facts);
    // esbuild names the place of a mistake.
    return compiled ? { contents: compiled.code, loader: 'js' } : { contents: source, loader: lang };
  }

  /** esbuild would name a place in the compiled code. */
  async function locate(file, pattern) {
    const lines = (await readFile(join(root, file), 'utf8').catch(() => '')).split('\n');
    const index = Math.max(
      0,
      lines.findIndex((line) => line.search(pattern) >= 0),
    );
    return { file, line: index + 1, column: Math.max(0, lines[index].search(pattern)), lineText: lines[index] };
  }

  /** The names of `export * from` a package: what is imported of the base has no names that a browser knows. */
  async function listExported(specifier, resolveDir) {
    const { metafile } = await esbuild.build({
      ...options,
      stdin: { contents: `export * from ${JSON.stringify(specifier)}`, resolveDir },
      entryPoints: undefined,
      splitting: false,
    });
    const names = Object.values(metafile.outputs).flatMap((output) => (output.entryPoint ? output.exports : []));
    const [file] = metafile.inputs['<stdin>'].imports;
    const all = file ? [...(await listCommonNames(root, metafile.inputs, file.path)).union(new Set(names))] : names;
    if (all.length === 0)
      throw new Error(`"export * from '${specifier}'" finds no names in the package. List the names instead.`);
    return all;
  }

  /** @returns {Promise<[string, Module][]>} */
  async function load(wanted) {
    const { outputFiles, metafile } = await esbuild.build({
      ...options,
      entryPoints: wanted.map((key) => ({ in: `module:${key}`, out: toModulePath(key).slice(1, -'.js'.length) })),
      entryNames: '[dir]/[name]',
      splitting: false,
      sourceRoot: undefined,
      plugins: [apart, ...(options.plugins ?? []).map(watchLoads), compiling],
    });
    const files = new Map(outputFiles.map((file) => [toRelative(file.path), file]));
    const loaded = wanted.map((key) => {
      const path = outdir + toModulePath(key);
      const { imports, exports } = metafile.outputs[path];
      const names = new Set([key]);
      for (const name of names) {
        for (const { path: input, external } of metafile.inputs[name].imports) if (!external) names.add(input);
      }
      const module = {
        text: files.get(path).text,
        map: files.get(`${path}.map`).text,
        files: [...names].flatMap((name) => [name, ...(watched.get(name) ?? [])]),
        imports: imports.flatMap(({ path: imported, kind }) =>
          keysByPath.has(imported) ? [{ key: keysByPath.get(imported), kind }] : [],
        ),
        exports,
        inputs: Object.fromEntries([...names].map((name) => [name, metafile.inputs[name]])),
        facts: facts.get(key),
      };
      files.delete(path);
      files.delete(`${path}.map`);
      return /** @type {[string, Module]} */ ([key, module]);
    });
    for (const file of files.values()) assets.set(file.path, file);
    return loaded;
  }

  return {
    load,
    locate,
    /** Lets a module be loaded that no other one imports. */
    addRoot(key) {
      keysByPath.set(toModulePath(key), key);
      requests.set(key, { path: join(root, key), importer: join(root, table), resolveDir: root });
    },
    keysByPath,
    targets,
    assets,
    baseFiles,
  };
}

export function toModulePath(key) {
  const path = key.replaceAll('../', '~/').replace(/[^\w./~-]/g, (sign) => `~${sign.charCodeAt(0).toString(16)}`);
  return `${urlFolder}${path.replaceAll('/.', '/~.')}.js`;
}
