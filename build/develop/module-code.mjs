import * as esbuild from 'esbuild';
import { parseSync } from 'oxc-parser';
import { transform } from 'oxc-transform';
import { browserTarget } from '../bundles.mjs';
import { lineEnd } from '../sites/line-end.mjs';
import { readInputMap, throughInputMap } from './input-map.mjs';

/**
 * @typedef {object} Import
 * @property {'import-statement' | 'dynamic-import'} kind
 * @property {string} specifier
 * @property {readonly string[]} names imported by name; `default` too
 * @property {number} start of the text that is replaced by `toText`
 * @property {number} end
 * @property {(url: string, isCommonJs: boolean) => string} toText
 */

/**
 * @typedef {object} ModuleCode
 * @property {string} code JavaScript, with the imports as they were written
 * @property {any} map the source map, with absolute sources; an empty string if there is none
 * @property {readonly Import[]} imports in the order of their positions
 * @property {ReadonlySet<string>} exports names
 * @property {readonly string[]} stars specifiers of `export * from`
 * @property {boolean} isBoundary it exports only components, so React can exchange it without its importers
 */

const define = { 'process.env.NODE_ENV': '"development"', 'process.env.SPILLWAY_DEV': '"1"' };

/**
 * Compiles a module of the product for React Fast Refresh: each component is registered under its file and name, with a
 * signature of the hooks that it calls. The added code is on the first line, so that line numbers do not change.
 *
 * @param {string} file relative to the root
 * @param {string} source
 * @param {'ts' | 'tsx' | 'js' | 'jsx'} lang
 * @param {string} path absolute
 * @returns {Promise<ModuleCode>}
 * @throws {esbuild.BuildFailure}
 */
export async function compileModule(file, source, lang, path) {
  const { code, map, errors } = await transform(file, source, {
    lang,
    target: browserTarget,
    jsx: { runtime: 'automatic', development: true, refresh: true },
    define,
    sourcemap: true,
  });
  if (errors.length > 0) await throwSyntaxError(file, source, lang, errors[0]);
  const name = JSON.stringify(file);
  const head =
    `const $RefreshReg$ = (type, id) => globalThis.__spillway.register(type, ${name} + ' ' + id),` +
    ` $RefreshSig$ = globalThis.__spillway.createSignature;globalThis.__spillway.evaluated.add(${name});`;
  const input = readInputMap(path, source);
  return { ...readModule(head + code), map: input ? throughInputMap(map, input) : { ...map, sources: [path] } };
}

/**
 * Reads the imports and exports of a module.
 *
 * @param {string} code JavaScript
 * @returns {Omit<ModuleCode, 'map'>}
 */
export function readModule(code) {
  const { staticImports, staticExports, dynamicImports } = parseSync('module.js', code).module;
  const components = new Set([...code.matchAll(/^\$RefreshReg\$\(_c\d*, "([^"]+)"\);$/gm)].map(([, name]) => name));
  const exported = staticExports.flatMap(({ entries }) => entries);
  const isStar = ({ importName }) => importName.kind === 'AllButDefault';
  const named = exported.filter((entry) => !isStar(entry));
  const imports = [
    ...staticImports.map((statement) => toImport(statement, statement.entries)),
    ...staticExports.flatMap(({ start, end, entries }) => {
      const [first] = entries;
      // Of a name that is imported and then exported, this is the import.
      if (!first?.moduleRequest || first.start > first.moduleRequest.start) return [];
      return [toImport({ start, end, moduleRequest: first.moduleRequest }, entries)];
    }),
    ...dynamicImports.flatMap(({ start, end, moduleRequest }) => {
      const text = code.slice(moduleRequest.start, moduleRequest.end);
      // A computed name is none of a file of the product.
      const specifier = /^(["'])([^"'\\]*)\1$/.exec(text)?.[2];
      if (specifier === undefined) return [];
      const toText = (url, isCommonJs) => `import("${url}")${isCommonJs ? '.then((all) => all.$all)' : ''}`;
      return [{ kind: /** @type {const} */ ('dynamic-import'), specifier, names: [], start, end, toText }];
    }),
  ];
  return {
    code,
    imports: imports.sort((one, other) => one.start - other.start),
    exports: new Set(named.map(toExportedName)),
    stars: exported.filter(isStar).map(({ moduleRequest }) => moduleRequest.value),
    isBoundary:
      exported.length > 0 &&
      exported.every(({ localName, exportName }) =>
        components.has(localName.kind === 'Name' ? localName.name : exportName.kind === 'Default' ? '%default%' : ''),
      ),
  };

  /** The statement's text changes from the name of the module on; from the list of names on if they are of CommonJS. */
  function toImport({ start, end, moduleRequest }, entries) {
    const isAll = ({ importName }) => importName.kind === 'NamespaceObject' || importName.kind === 'All';
    const clause = code.slice(start, moduleRequest.start);
    return {
      kind: /** @type {const} */ ('import-statement'),
      specifier: moduleRequest.value,
      names: entries.flatMap(({ importName: { kind, name } }) =>
        kind === 'Name' ? [name] : kind === 'Default' ? ['default'] : [],
      ),
      start,
      end,
      // Without the import's attributes: what is JSON in the source is a module here.
      toText: (url, isCommonJs) =>
        `${isCommonJs && entries.some(isAll) ? clause.replace(/\*\s*as\s+([\w$]+)/, '{ $$all as $1 }') : clause}"${url}";`,
    };
  }
}

function toExportedName({ exportName }) {
  return exportName.kind === 'Default' ? 'default' : exportName.name;
}

/** esbuild's message names the place, and is worded like those of the other bundles. */
async function throwSyntaxError(file, source, lang, error) {
  await esbuild.transform(source, { loader: lang, sourcefile: file, logLevel: 'silent' });
  throw toFailure([{ text: error.message, location: toLocation(file, source, error.labels[0]?.start ?? 0) }]);
}

/** @param {readonly { text: string, location?: object }[]} errors */
export function toFailure(errors) {
  return Object.assign(new Error('The build failed.'), { errors });
}

/**
 * @param {string} file
 * @param {string} source
 * @param {number} offset in UTF-16 units
 * @returns a place in a source text, as in esbuild's messages
 */
export function toLocation(file, source, offset) {
  const before = source.slice(0, offset).split(lineEnd);
  const lineText = source.split(lineEnd)[before.length - 1];
  return {
    file,
    line: before.length,
    column: before.at(-1).length,
    lineText,
    length: 0,
    namespace: '',
    suggestion: '',
  };
}

/** Returns the place where a module imports another one, or a name of it. */
export function locateImport(file, source, specifier, name) {
  const { staticImports, staticExports, dynamicImports } = parseSync(file, source).module;
  const entries = [...staticImports, ...staticExports].flatMap((statement) =>
    statement.entries.map((entry) => ({ moduleRequest: statement.moduleRequest, ...entry })),
  );
  const named = entries.find((entry) => entry.moduleRequest?.value === specifier && entry.importName.name === name);
  const request =
    [...staticImports, ...entries].find(({ moduleRequest }) => moduleRequest?.value === specifier)?.moduleRequest ??
    dynamicImports
      .map(({ moduleRequest }) => moduleRequest)
      .find(({ start, end }) => source.slice(start + 1, end - 1) === specifier);
  return toLocation(file, source, named?.importName.start ?? request?.start ?? 0);
}
