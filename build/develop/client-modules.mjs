import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { locateImport, toFailure } from './module-code.mjs';

/** Folders whose modules can be replaced in open pages. */
const productFolders = ['src/shared/product/', 'src/client/product/'];
const urlFolder = '/_dev/modules/';

/** @param {string} path relative to the root, of a module, a style sheet or an image */
export function isProductFile(path) {
  return productFolders.some((folder) => path.startsWith(folder));
}

/**
 * @typedef {object} Target where an import leads: to another module, a file of the base, or another URL
 * @property {string} kind
 * @property {string} [key] of the module
 * @property {string} [file]
 * @property {string} [url]
 * @property {boolean} [isPage] the route table loads it when it is shown
 *
 * @typedef {object} Module
 * @property {import('./module-code.mjs').ModuleCode} code
 * @property {string} map empty if it cannot be exchanged
 * @property {import('esbuild').OutputFile[]} assets
 * @property {string[]} files and folders, relative to the root; it can change with these, or at any time without any
 * @property {Target[]} targets of the imports in `code`
 */

/**
 * The modules of the product as browsers load them, one by one. An edit compiles one module and gives it a new URL. If
 * it exports only components, React exchanges these, and the modules that import it stay. Otherwise those get new URLs
 * too, and so on. Every URL returns the last version, so a page that is loaded later has versions that belong together.
 *
 * @param {string} root
 * @param {ReturnType<typeof import('./module-loader.mjs').createModuleLoader>} loader
 * @param {{ wiring: string, table: string, outdir: string }} files `wiring` imports the product, and `table` is the route
 *   table
 */
export function createClientModules(root, loader, { wiring, table, outdir }) {
  /** @type {Map<string, Module>} */
  let modules = new Map();
  /** Includes modules that are gone: one that returns needs a URL that no page has loaded. */
  const versions = new Map();
  /** Names that are imported of each CommonJS file. */
  const namesByFile = new Map();

  const toRelative = (path) => relative(root, path).replaceAll('\\', '/');
  const isProduct = (key) => key === wiring || isProductFile(key);
  const toUrl = (key) => `${toPath(key)}?v=${versions.get(key) ?? 0}`;

  function renew(key) {
    versions.set(key, (versions.get(key) ?? 0) + 1);
  }

  async function toTarget(importer, { specifier, kind }) {
    if (/^(?:[a-z]+:)?\/\/|^data:/.test(specifier)) return { kind, url: specifier };
    const request = { specifier, importer, resolveDir: dirname(importer) };
    const found = await loader.resolve(request);
    if (found.external) return { kind, url: found.path };
    const isFile = found.namespace === 'file';
    const key = isFile ? toRelative(found.path) : `${found.namespace}:${found.path}`;
    const isBase = isFile && /\.[cm]?[jt]sx?$/.test(key) && (!isProduct(key) || /\.c[jt]s$/.test(key));
    if (isBase) return { kind, file: key };
    return { kind, key, request, found, isPage: kind === 'dynamic-import' && importer === join(root, table) };
  }

  async function loadModule(key, request, found) {
    const { code, assets, files } = await loader.load(request, found, isProduct(key) && !key.endsWith('.css'));
    const targets = await Promise.all(
      code.imports.map((imported) =>
        toTarget(found.path, imported).catch((error) => throwAt(error, found.path, imported.specifier)),
      ),
    );
    const path = join(root, outdir, toPath(key));
    const toSource = (source) => relative(dirname(path), source).replaceAll('\\', '/');
    const map = code.map && JSON.stringify({ ...code.map, sources: code.map.sources.map(toSource) });
    return { code, map, assets, files: files.map(toRelative), targets };
  }

  /** Adds the place of an import to messages that have none. */
  async function throwAt(error, importer, specifier, name) {
    if (!error.errors) throw error;
    const source = await readFile(importer, 'utf8').catch(() => '');
    const location = locateImport(toRelative(importer), source, specifier, name);
    throw toFailure(error.errors.map((message) => ({ ...message, location: message.location ?? location })));
  }

  /** Loads the modules that the roots reach. Those that did not change stay. */
  async function loadAll(roots, isChanged) {
    const next = new Map();
    async function visit({ key, request, found }) {
      if (key === undefined || next.has(key)) return;
      next.set(key, undefined);
      const known = modules.get(key);
      const module = known && !isChanged(known) ? known : await loadModule(key, request, found);
      next.set(key, module);
      await together(module.targets.map(visit));
    }
    await together(
      roots.map((key) => {
        const path = join(root, key);
        const request = { specifier: path, importer: '', resolveDir: root };
        return visit({ key, request, found: { path, namespace: 'file', external: false } });
      }),
    );
    return next;
  }

  /** @returns {Set<string> | undefined} undefined if some are not known */
  function listExports(key, all, seen = new Set()) {
    const { code, targets } = all.get(key);
    const names = new Set(code.exports);
    seen.add(key);
    for (const specifier of code.stars) {
      const target = targets[code.imports.findIndex((imported) => imported.specifier === specifier)];
      if (target.key === undefined) return undefined;
      const others = seen.has(target.key) ? [] : listExports(target.key, all, seen);
      if (!others) return undefined;
      for (const name of others) names.add(name);
    }
    return names;
  }

  /** A browser would find a missing name only when it loads the module, and the page would have to be loaded again. */
  async function requireNames(all, toNames) {
    await together(
      [...all].flatMap(([key, { code, targets }]) =>
        code.imports.map(async ({ specifier, names }, index) => {
          const known = names.length > 0 ? toNames(targets[index], key) : undefined;
          const missing = known && names.find((name) => !known.has(name));
          if (missing === undefined) return;
          const { key: imported, file = imported } = targets[index];
          const text = `No matching export in "${file}" for import "${missing}"`;
          await throwAt(toFailure([{ text }]), join(root, key), specifier, missing);
        }),
      ),
    );
  }

  /** Gives new URLs to changed modules, and to their importers up to modules of components. */
  function renewWithImporters(next, changed) {
    const importers = new Map();
    for (const [key, { targets }] of next) {
      for (const { key: imported, isPage } of targets) {
        if (imported !== undefined && !isPage) importers.set(imported, [...(importers.get(imported) ?? []), key]);
      }
    }
    const renewed = new Set();
    function visit(key) {
      if (renewed.has(key)) return;
      renewed.add(key);
      renew(key);
      const isBoundary = modules.get(key)?.code.isBoundary && next.get(key).code.isBoundary;
      if (!isBoundary) importers.get(key)?.forEach(visit);
    }
    changed.forEach(visit);
  }

  /** Notes names that are imported of a CommonJS file, directly or by `export *`. */
  function noteNames({ key, file }, names, base, seen = new Set()) {
    if (file !== undefined && base.isCommonJs(file)) {
      const noted = namesByFile.get(file) ?? new Set();
      const more = noted.union(new Set(names));
      more.delete('default');
      if (more.size > noted.size) renew(toStubKey(file));
      namesByFile.set(file, more);
    }
    if (key === undefined || seen.has(key)) return;
    const { code, targets } = modules.get(key);
    for (const [index, { specifier }] of code.imports.entries()) {
      if (code.stars.includes(specifier)) noteNames(targets[index], names, base, seen.add(key));
    }
  }

  function toImported({ key, file, url }, base) {
    if (url !== undefined) return url;
    if (key !== undefined) return toUrl(key);
    return base.isCommonJs(file) ? toUrl(toStubKey(file)) : base.urls.get(file);
  }

  function toText({ code: { code, imports }, targets }, base) {
    const parts = [];
    let at = 0;
    for (const [index, { start, end, toText }] of imports.entries()) {
      const target = targets[index];
      const isCommonJs = target.file !== undefined && base.isCommonJs(target.file);
      const text = target.isPage
        ? `globalThis.__spillway.load(${JSON.stringify(target.key)})`
        : toText(toImported(target, base), isCommonJs);
      parts.push(code.slice(at, start), text);
      at = end;
    }
    return parts.join('') + code.slice(at);
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
      const gone = changed.filter((file) => !existsSync(join(root, file)));
      const next = await loadAll(
        [wiring, ...pages],
        (module) => isMadeOf(module, changed) || module.targets.some(({ key = '' }) => isIn(gone, key)),
      );
      const toIdentity = ({ code, targets }) => [code.code, ...targets.map(({ key, file }) => key ?? file)].join('\n');
      const changedKeys = [...next].flatMap(([key, module]) => {
        const known = modules.get(key);
        return known && (known === module || toIdentity(known) === toIdentity(module)) ? [] : [key];
      });
      const isNew = new Set(changedKeys);
      await requireNames(next, ({ key: imported }, key) =>
        imported !== undefined && (isNew.has(key) || isNew.has(imported)) ? listExports(imported, next) : undefined,
      );
      renewWithImporters(next, changedKeys);
      modules = next;
    },

    /** @param {readonly string[]} files */
    areMadeOf: (files) => [...modules.values()].some((module) => isMadeOf(module, files)),

    /** The modules that a module imports statically, and those of them, and so on. */
    listWithImports(entry) {
      const found = new Set();
      (function visit(key) {
        if (found.has(key)) return;
        found.add(key);
        for (const { kind, key: imported } of modules.get(key)?.targets ?? []) {
          if (imported !== undefined && kind === 'import-statement') visit(imported);
        }
      })(entry);
      return found;
    },

    /** Returns the files of the base that the modules import. */
    listBase() {
      return [...new Set([...modules.values()].flatMap(({ targets }) => targets.flatMap(({ file }) => file ?? [])))];
    },

    /** What esbuild's metafile would say of the modules as entry points. */
    toMetafile(base) {
      const toInput = ({ kind, key, file, url }) => ({ kind, path: key ?? file ?? url, external: url !== undefined });
      const toOutput = (target) => ({
        kind: target.kind,
        path: outdir + toImported(target, base),
        external: target.url !== undefined,
      });
      const entries = [...modules];
      return {
        inputs: Object.fromEntries(entries.map(([key, { targets }]) => [key, { imports: targets.map(toInput) }])),
        outputs:
          base &&
          Object.fromEntries(
            entries.map(([key, { targets }]) => [
              outdir + toUrl(key),
              { entryPoint: key, imports: targets.map(toOutput) },
            ]),
          ),
      };
    },

    /**
     * @param {Pick<ReturnType<typeof import('./client-base.mjs').createClientBase>, 'isCommonJs'> & { urls: Map<string, string>, exports: Map<string, Set<string>> }} base
     * @returns {Promise<{ path: string, contents: string | Uint8Array }[]>} files of the client
     * @throws {import('esbuild').BuildFailure} if a name is imported that the base does not have
     */
    async emit(base) {
      await requireNames(modules, ({ file }) =>
        file === undefined || base.isCommonJs(file) ? undefined : base.exports.get(file),
      );
      for (const { code, targets } of modules.values()) {
        for (const [index, { names }] of code.imports.entries()) noteNames(targets[index], names, base);
      }
      const stubs = [...namesByFile].map(([file, names]) => ({
        path: toPath(toStubKey(file)),
        contents: toStub(base.urls.get(file), [...names]),
      }));
      const files = [...modules].flatMap(([key, module]) => {
        const path = toPath(key);
        const text = toText(module, base);
        if (module.map === '') return [{ path, contents: text }];
        return [
          { path, contents: `${text}\n//# sourceMappingURL=${basename(path)}.map\n` },
          { path: `${path}.map`, contents: module.map },
        ];
      });
      return [...files, ...stubs].map(({ path, contents }) => ({ path: path.slice(1), contents }));
    },

    listAssets: () => [...modules.values()].flatMap(({ assets }) => assets),

    /** The URLs of the modules that pages can exchange, by file. */
    listUrls() {
      const live = [...modules].filter(([key, { map }]) => isProductFile(key) && map !== '');
      return Object.fromEntries(live.map(([key]) => [key, toUrl(key)]));
    },

    /** Changes if pages have to be loaded again. */
    getWiringVersion: () => versions.get(wiring),
  };
}

function isIn(files, path) {
  return files.some((file) => path === file || path.startsWith(`${file}/`));
}

/** A plugin can make a module of anything, if it does not name its files. */
function isMadeOf(module, files) {
  const { length } = module.files;
  return length === 0 || module.files.some((file) => isIn(files, file) || files.some((other) => isIn([file], other)));
}

/** Waits for all, and reports the errors of all. */
async function together(promises) {
  const settled = await Promise.allSettled(promises);
  const reasons = settled.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  const other = reasons.find(({ errors }) => !errors);
  if (other) throw other;
  if (reasons.length > 0) throw toFailure(reasons.flatMap(({ errors }) => errors));
}

function toStubKey(file) {
  return `names/${file}`;
}

/** A CommonJS module has one value, so its names need a module with exports. */
function toStub(url, names) {
  return `import all from "${url}";
export default all;
export const $all = Object.assign(Object.create(null), all, { default: all });
const { ${names.map((name, index) => `${name}: $${index}`).join(', ')} } = all;
export { ${names.map((name, index) => `$${index} as ${name}`).join(', ')} };
`;
}

function toPath(key) {
  const path = key.replaceAll('../', '~/').replace(/[^\w./~-]/g, (sign) => `~${sign.charCodeAt(0).toString(16)}`);
  return `${urlFolder}${path.replaceAll('/.', '/~.')}.js`;
}
