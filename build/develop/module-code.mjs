import { basename, dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import remapping from '@jridgewell/remapping';
import { transform } from 'oxc-transform';
import { browserTarget, toDefinitions } from '../bundles.mjs';
import { readNames } from '../import-by-name.mjs';

/**
 * @typedef {object} ModuleFacts
 * @property {readonly { specifier: string, name: string }[]} imports by name; `default` too
 * @property {readonly string[]} stars specifiers of `export * from`
 * @property {boolean} isBoundary it exports only components, so React can exchange it without its importers
 */

/**
 * Compiles a module of the product for React Fast Refresh: each component is registered under its file and name, with a
 * signature of the hooks that it calls. The added code is on the first line, so that line numbers do not change.
 *
 * @param {string} file relative to the root
 * @param {string} source
 * @param {'ts' | 'tsx' | 'js' | 'jsx'} lang
 * @param {string} path absolute
 * @param {(specifier: string) => Promise<string[]>} listExports of a package
 * @returns {Promise<{ code: string, facts: ModuleFacts } | undefined>} undefined if it has a mistake
 */
export async function compileModule(file, source, lang, path, listExports) {
  const { code, map, errors } = await transform(file, source, {
    lang,
    target: browserTarget,
    jsx: { runtime: 'automatic', development: true, refresh: true },
    define: toDefinitions(true),
    sourcemap: true,
  });
  if (errors.length > 0) return undefined;
  const name = JSON.stringify(file);
  const head =
    `const $RefreshReg$ = (type, id) => globalThis.__spillway.register(type, ${name} + ' ' + id),` +
    ` $RefreshSig$ = globalThis.__spillway.createSignature;globalThis.__spillway.evaluated.add(${name});`;
  const facts = readFacts(code);
  let text = head + code;
  // A name that the module exports itself is not one of `export *`.
  const taken = new Set(readNames(code).exports.map(({ exportName }) => exportName.name));
  for (const specifier of facts.stars.filter((other) => !other.startsWith('.'))) {
    const names = (await listExports(specifier)).filter((name) => !taken.has(name));
    for (const name of names) taken.add(name);
    const from = JSON.stringify(specifier);
    text = text.replace(`export * from ${from};`, () => `export { ${names.join(', ')} } from ${from};`);
  }
  const input = await readInputMap(path, source);
  const toSource = input ? remapping([map, input], () => null) : { ...map, sources: [basename(file)] };
  const url = `data:application/json;base64,${Buffer.from(JSON.stringify(toSource)).toString('base64')}`;
  return { code: `${text}\n//# sourceMappingURL=${url}`, facts };
}

/**
 * Reads the source map that a module contains, as the output of a plugin often does: esbuild applies it too.
 *
 * @param {string} path absolute, of the module
 * @param {string} text the module, with the map in its last `sourceMappingURL`
 * @returns a map with absolute sources; undefined if there is none that can be read
 */
async function readInputMap(path, text) {
  const url = [...text.matchAll(/\/\/[#@] sourceMappingURL=(data:\S+)/g)].at(-1)?.[1];
  if (url === undefined) return undefined;
  try {
    const map = /** @type {any} */ (await (await fetch(url)).json());
    const toPath = (source) =>
      source.startsWith('file:') ? fileURLToPath(source) : resolve(dirname(path), map.sourceRoot ?? '', source);
    return { ...map, sourceRoot: undefined, sources: map.sources.map(toPath) };
  } catch {
    return undefined;
  }
}

/** @param {string} code JavaScript @returns {ModuleFacts} */
function readFacts(code) {
  const { imports, exports } = readNames(code);
  const components = new Set([...code.matchAll(/^\$RefreshReg\$\(_c\d*, "([^"]+)"\);$/gm)].map(([, name]) => name));
  const isStar = ({ importName }) => importName.kind === 'AllButDefault';
  return {
    imports: [...imports, ...exports]
      .filter(({ moduleRequest, importName }) => moduleRequest && /^(?:Name|Default)$/.test(importName.kind))
      .map(({ moduleRequest, importName: { kind, name } }) => {
        return { specifier: moduleRequest.value, name: kind === 'Default' ? 'default' : name };
      }),
    stars: exports.filter(isStar).map(({ moduleRequest }) => moduleRequest.value),
    isBoundary:
      exports.length > 0 &&
      exports.every(({ localName, exportName }) =>
        components.has(localName.kind === 'Name' ? localName.name : exportName.kind === 'Default' ? '%default%' : ''),
      ),
  };
}
