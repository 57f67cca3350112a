import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import * as esbuild from 'esbuild';
import { isInProduct } from '../../src/shared/whose-code.mjs';
import { requireClientInputs } from '../client-inputs.mjs';
import { sheetFile } from '../styles.mjs';
import { inBase, loadFromBase, toBaseFile } from './base.mjs';
import { compileModule } from './module-code.mjs';
import { withLoads } from './source-texts.mjs';

const urlFolder = '/_dev/modules/';
/** Plugin data of imports that esbuild resolves. */
const resolving = 'module';
const codeLoaders = new Set(['js', 'jsx', 'ts', 'tsx']);

/**
 * @typedef {object} Module
 * @property {string} text JavaScript, with the URLs of other modules without their versions
 * @property {string} map
 * @property {string[]} files and folders, relative to the root; it can change with these
 * @property {{ key: string, kind: string, isPage: boolean }[]} imports of other modules; the route table loads a page
 *   when it is shown
 * @property {import('esbuild').Metafile['inputs']} inputs
 * @property {import('./module-code.mjs').ModuleFacts | undefined} facts undefined if it is not code
 */

/**
 * The modules of the product as browsers load them, one by one. An edit compiles one module and gives it a new URL. If
 * it exports only components, React exchanges these, and the modules that import it stay. Otherwise those get new URLs
 * too, and so on. Every URL returns the last version, so a page that is loaded later has versions that belong together.
 *
 * Each module is an entry point of esbuild, with the plugins of the build. Its imports of other modules stay imports, and
 * engine and packages come from the base (`base.mjs`).
 *
 * @param {string} root
 * @param {import('esbuild').BuildOptions} options the client's
 * @param {{ wiring: string, table: string, outdir: string }} parts `wiring` imports the product, `table` is the route
 *   table
 */
export function createClientModules(root, options, { wiring, table, outdir }) {
  /** @type {Map<string, Module>} */
  let modules = new Map();
  /** Includes modules that are gone: one that returns needs a URL that no page has loaded. */
  const versions = new Map();
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

  const toRelative = (path) => relative(root, path).replaceAll('\\', '/');
  const toInput = ({ path, namespace }) => (namespace === 'file' ? toRelative(path) : `${namespace}:${path}`);
  const toUrl = (key) => `${toPath(key)}?v=${versions.get(key) ?? 0}`;
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
        if (request.kind === 'entry-point')
          return resolve(build, requests.get(request.path.slice('module:'.length)), {});
        const found = await resolve(build, request, request.with);
        const fail = async (texts) => {
          const location = await locate(toRelative(request.importer), `["']${RegExp.escape(request.path)}["']`);
          return { errors: texts.map((text) => ({ text, location })) };
        };
        if (found.errors.length > 0) return fail(found.errors.map(({ text }) => text));
        const key = found.external ? found.path : toInput(found);
        const importer = toInput({ path: request.importer, namespace: request.namespace });
        try {
          const imported = { path: key, kind: request.kind, external: found.external };
          requireClientInputs({ inputs: { [importer]: { bytes: 0, imports: [imported] } } });
        } catch (error) {
          return fail([error.message]);
        }
        if (found.external || isAsset(key)) return found;
        if (found.namespace === 'file' && !isModule(key)) {
          baseFiles.add(key);
          return inBase(key);
        }
        const path = toPath(key);
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
    if (names.length === 0)
      throw new Error(`"export * from '${specifier}'" needs an ES module. List the names instead.`);
    return names;
  }

  /** @returns {Promise<[string, Module][]>} */
  async function load(wanted) {
    const { outputFiles, metafile } = await esbuild.build({
      ...options,
      entryPoints: wanted.map((key) => ({ in: `module:${key}`, out: toPath(key).slice(1, -'.js'.length) })),
      entryNames: '[dir]/[name]',
      splitting: false,
      sourceRoot: undefined,
      plugins: [apart, ...(options.plugins ?? []).map((plugin) => withLoads(plugin, watchLoad)), compiling],
    });
    const files = new Map(outputFiles.map((file) => [toRelative(file.path), file]));
    const loaded = wanted.map((key) => {
      const path = outdir + toPath(key);
      const { imports } = metafile.outputs[path];
      const names = new Set([key]);
      for (const name of names) {
        for (const { path: input, external } of metafile.inputs[name].imports) if (!external) names.add(input);
      }
      const module = {
        text: files.get(path).text,
        map: files.get(`${path}.map`).text,
        files: [...names].flatMap((name) => [name, ...(watched.get(name) ?? [])]),
        imports: imports.flatMap(({ path: imported, kind }) => {
          const isPage = kind === 'dynamic-import' && key === table;
          return keysByPath.has(imported) ? [{ key: keysByPath.get(imported), kind, isPage }] : [];
        }),
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

  /** Loads the modules that the roots reach. Those that did not change stay. */
  async function loadAll(roots, isChanged) {
    const known = new Map([...modules].filter(([, module]) => !isChanged(module)));
    const next = new Map();
    for (let wanted = new Set(roots); wanted.size > 0; ) {
      const missing = [...wanted].filter((key) => !known.has(key));
      for (const [key, module] of missing.length > 0 ? await load(missing) : []) known.set(key, module);
      for (const key of wanted) next.set(key, known.get(key));
      const imported = new Set([...wanted].flatMap((key) => next.get(key).imports.map((one) => one.key)));
      wanted = imported.difference(next);
    }
    return next;
  }

  /** @returns {Set<string> | undefined} undefined if some are not known */
  function listExports(key, all, seen = new Set()) {
    const known = all.get(key)?.facts;
    const names = known && new Set(known.exports);
    for (const specifier of seen.has(key) ? [] : (known?.stars ?? [])) {
      const others = listExports(targets.get(`${key} ${specifier}`), all, seen.add(key));
      if (!others) return undefined;
      for (const name of others) names.add(name);
    }
    return names;
  }

  /** A browser would find a missing name only when it loads the module, and the page would have to be loaded again. */
  async function requireNames(all) {
    for (const [key, module] of all) {
      for (const { specifier, names } of module.facts?.imports ?? []) {
        const target = targets.get(`${key} ${specifier}`);
        const known = target && names.length > 0 && listExports(target, all);
        const missing = known && names.find((name) => !known.has(name));
        if (!missing) continue;
        const errors = [
          {
            text: `No matching export in "${target}" for import "${missing}"`,
            location: await locate(key, `\\b${RegExp.escape(missing)}\\b`),
          },
        ];
        throw Object.assign(new Error('The build failed.'), { errors });
      }
    }
  }

  /** Gives new URLs to changed modules, and to their importers up to modules of components. */
  function renewWithImporters(next, changed) {
    const importers = new Map();
    for (const [key, { imports }] of next) {
      for (const { key: imported, isPage } of imports) {
        if (!isPage) importers.set(imported, [...(importers.get(imported) ?? []), key]);
      }
    }
    const renewed = new Set();
    function visit(key) {
      if (renewed.has(key)) return;
      renewed.add(key);
      versions.set(key, (versions.get(key) ?? 0) + 1);
      const isBoundary = modules.get(key)?.facts?.isBoundary && next.get(key).facts?.isBoundary;
      if (!isBoundary) importers.get(key)?.forEach(visit);
    }
    changed.forEach(visit);
  }

  function toText(key, { text }) {
    const withVersions = text.replace(/(?<=")\/_dev\/modules\/[^"?]+\.js(?=")/g, (path) => toUrl(keysByPath.get(path)));
    if (key !== table) return withVersions;
    return withVersions.replace(/\bimport\("(\/_dev\/modules\/[^"?]+)[^"]*"\)/g, (_, path) => {
      return `globalThis.__spillway.load(${JSON.stringify(keysByPath.get(path))})`;
    });
  }

  return {
    /** Always the same, because pages never exchange the wiring. */
    wiringUrl: `${toPath(wiring)}?v=0`,

    /**
     * @param {readonly string[]} pages
     * @param {readonly string[]} changed files or folders, relative to the root
     * @throws {import('esbuild').BuildFailure} the modules then stay as they were
     */
    async update(pages, changed) {
      for (const key of [wiring, ...pages]) {
        keysByPath.set(toPath(key), key);
        requests.set(key, { path: join(root, key), importer: '', resolveDir: root });
      }
      const gone = changed.filter((file) => !existsSync(join(root, file)));
      const next = await loadAll(
        [wiring, ...pages],
        (module) => isMadeOf(module, changed) || module.imports.some(({ key }) => isIn(gone, key)),
      );
      await requireNames(next);
      renewWithImporters(
        next,
        [...next.keys()].filter((key) => modules.get(key)?.text !== next.get(key).text),
      );
      modules = next;
    },

    /** @param {readonly string[]} files */
    areMadeOf: (files) => [...modules.values()].some((module) => isMadeOf(module, files)),

    /** The modules that a module imports statically, and those of them, and so on. */
    listWithImports(entry) {
      const found = new Set([entry]);
      for (const key of found) {
        for (const { kind, key: imported } of modules.get(key)?.imports ?? []) {
          if (kind === 'import-statement') found.add(imported);
        }
      }
      return found;
    },

    /** Files of engine and packages that the modules import. One that is no longer imported stays. */
    baseFiles,

    /** What esbuild's metafile would say if the modules were in one bundle. */
    toMetafile() {
      const toPlain = (imported) => {
        const key = keysByPath.get(imported.path) ?? toBaseFile(imported.path);
        return { ...imported, path: key, external: imported.external && key === imported.path };
      };
      const inputs = [...modules.values()].flatMap((module) => Object.entries(module.inputs));
      return {
        inputs: Object.fromEntries(
          inputs.map(([name, input]) => [name, { ...input, imports: input.imports.map(toPlain) }]),
        ),
        outputs: Object.fromEntries(
          [...modules].map(([key, { imports }]) => [
            outdir + toUrl(key),
            {
              entryPoint: key,
              imports: imports.map((imported) => ({ ...imported, path: outdir + toUrl(imported.key) })),
            },
          ]),
        ),
      };
    },

    /** Returns the outputs: modules, and what they refer to. */
    emit: () => [
      ...assets.values(),
      ...[...modules].flatMap(([key, module]) => {
        const path = join(root, outdir + toPath(key));
        const text = `${toText(key, module)}\n//# sourceMappingURL=${basename(path)}.map\n`;
        return [
          { path, contents: text },
          { path: `${path}.map`, contents: module.map },
        ];
      }),
    ],

    /** The URLs of the modules that pages can exchange, by file. */
    listUrls() {
      const live = [...modules].filter(([key, module]) => isInProduct(key) && module.facts);
      return Object.fromEntries(live.map(([key]) => [key, toUrl(key)]));
    },

    /** Changes if pages have to be loaded again. */
    getWiringVersion: () => versions.get(wiring),
  };
}

function isIn(files, path) {
  return files.some((file) => path === file || path.startsWith(`${file}/`));
}

function isMadeOf(module, files) {
  return module.files.some((file) => isIn(files, file) || files.some((other) => isIn([file], other)));
}

function toPath(key) {
  const path = key.replaceAll('../', '~/').replace(/[^\w./~-]/g, (sign) => `~${sign.charCodeAt(0).toString(16)}`);
  return `${urlFolder}${path.replaceAll('/.', '/~.')}.js`;
}
