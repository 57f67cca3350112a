import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isInProduct } from '../../src/shared/whose-code.mjs';
import { indexes, listReExports } from '../import-by-name.mjs';
import { toBaseFile } from './base.mjs';
import { createModuleLoader, toModulePath } from './module-loader.mjs';

const engine = indexes['#engine'];

/**
 * The modules of the product as browsers load them, one by one. An edit compiles one module and gives it a new URL. If
 * it exports only components, React exchanges these, and the modules that import it stay. Otherwise those get new URLs
 * too, and so on. Every URL returns the last version, so a page that is loaded later has versions that belong together.
 *
 * @param {string} root
 * @param {import('esbuild').BuildOptions} options the client's
 * @param {{ wiring: string, table: string, outdir: string }} parts `wiring` imports the product, `table` is the route
 *   table
 */
export function createClientModules(root, options, { wiring, table, outdir }) {
  const loader = createModuleLoader(root, options, { wiring, table, outdir });
  const { keysByPath, targets } = loader;
  /** @type {Map<string, import('./module-loader.mjs').Module>} */
  let modules = new Map();
  /** Includes modules that are gone: one that returns needs a URL that no page has loaded. */
  const versions = new Map();
  const toUrl = (key) => `${toModulePath(key)}?v=${versions.get(key) ?? 0}`;

  /** Loads the modules that the roots reach. Those that did not change stay. */
  async function loadAll(roots, isChanged) {
    const known = new Map([...modules].filter(([, module]) => !isChanged(module)));
    const next = new Map();
    for (let wanted = new Set(roots); wanted.size > 0; ) {
      const missing = [...wanted].filter((key) => !known.has(key));
      for (const [key, module] of missing.length > 0 ? await loader.load(missing) : []) known.set(key, module);
      for (const key of wanted) next.set(key, known.get(key));
      const imported = new Set([...wanted].flatMap((key) => next.get(key).imports.map((one) => one.key)));
      wanted = imported.difference(next);
    }
    return next;
  }

  /** @returns {string[]} the names that a module exports */
  function listExports(key, all, seen = new Set()) {
    seen.add(key);
    const { exports, facts } = all.get(key);
    const starred = facts?.stars.map((specifier) => targets.get(`${key} ${specifier}`)) ?? [];
    const others = starred.filter((target) => target && !seen.has(target));
    return [...exports, ...others.flatMap((target) => listExports(target, all, seen))];
  }

  /**
   * A browser would find a missing name only when it loads the module, and the page would have to be loaded again. One of
   * `#engine`, which is in the base, would be undefined.
   */
  async function requireNames(all) {
    let ofEngine;
    for (const [key, { facts }] of all) {
      for (const { specifier, name } of facts?.imports ?? []) {
        const isEngine = specifier === '#engine';
        const target = isEngine ? engine : targets.get(`${key} ${specifier}`);
        if (!target) continue;
        if (isEngine) ofEngine ??= [...listReExports(await readFile(join(root, engine), 'utf8')).keys()];
        if ((isEngine ? ofEngine : listExports(target, all)).includes(name)) continue;
        // The file has the word `default` elsewhere.
        const pattern = name === 'default' ? `["']${RegExp.escape(specifier)}["']` : `\\b${RegExp.escape(name)}\\b`;
        const text = `No matching export in "${target}" for import "${name}"`;
        const errors = [{ text, location: await loader.locate(key, pattern) }];
        throw Object.assign(new Error('The build failed.'), { errors });
      }
    }
  }

  /** Gives new URLs to changed modules, and to their importers up to modules of components. */
  function renewWithImporters(next, changed) {
    const importers = new Map();
    for (const [key, { imports }] of next) {
      for (const { key: imported, kind } of imports) {
        // The route table loads a page when it is shown.
        const isPage = kind === 'dynamic-import' && key === table;
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
    wiringUrl: `${toModulePath(wiring)}?v=0`,

    /**
     * @param {readonly string[]} pages
     * @param {readonly string[]} changed files or folders, relative to the root
     * @throws {import('esbuild').BuildFailure} the modules then stay as they were
     */
    async update(pages, changed) {
      for (const key of [wiring, ...pages]) loader.addRoot(key);
      const gone = changed.filter((file) => !existsSync(join(root, file)));
      const next = await loadAll(
        [wiring, ...pages],
        ({ files, imports }) =>
          files.some((file) => changed.some((path) => file.startsWith(path) || path.startsWith(`${file}/`))) ||
          imports.some(({ key }) => gone.some((path) => key.startsWith(path))),
      );
      await requireNames(next);
      renewWithImporters(
        next,
        [...next.keys()].filter((key) => modules.get(key)?.text !== next.get(key).text),
      );
      modules = next;
    },

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
    baseFiles: loader.baseFiles,

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
      ...loader.assets.values(),
      ...[...modules].flatMap(([key, module]) => {
        const path = join(root, outdir + toModulePath(key));
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
