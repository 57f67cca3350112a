import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { toRelative } from './files.mjs';

/** The public indexes, by their names in `imports` in package.json. */
export const indexes = {
  '#engine': 'src/shared/index.ts',
  '#engine/server': 'src/server/index.ts',
  '#engine/client': 'src/client/index.ts',
  '#engine/tracker': 'src/server/tracker.ts',
};

/**
 * Replaces `#engine`, for each importing module, with a module that exports only the imported names, each from its
 * defining file. esbuild puts a module into the chunk of everything that can reach it, used or not. Without this plugin,
 * everything that one page uses of an index would be in the first load of every page.
 *
 * @param {string} root
 * @returns {import('esbuild').Plugin}
 */
export function engineByName(root) {
  return {
    name: 'engine-by-name',
    setup(build) {
      for (const [index, file] of Object.entries(indexes)) {
        importByName(build, { name: index, index: join(root, file) });
      }
    },
  };
}

/**
 * @param {import('esbuild').PluginBuild} build
 * @param {{ name: string, index: string, isOurs?: (importer: string) => boolean }} entry the imported name, and the path
 *   of its index
 */
export function importByName(build, { name: imported, index, isOurs = () => true }) {
  const namespace = `names of ${imported}`;
  let exports;
  build.onStart(() => {
    exports = undefined;
  });
  build.onResolve({ filter: new RegExp(`^${RegExp.escape(imported)}$`) }, async ({ importer, kind }) => {
    if (kind !== 'import-statement' || !isOurs(importer)) return;
    const names = listImportedNames(await readFile(importer, 'utf8'), imported);
    exports ??= readFile(index, 'utf8').then(listReExports);
    const known = await exports;
    if (!names?.length || !names.every((name) => known.has(name))) return;
    const contents = names.map((name) => {
      const { local, file } = known.get(name);
      return `export { ${local} as ${name} } from "${file}";`;
    });
    // One module per importer. A shared one would become a separate chunk. Plugins that ignore the namespace find modules
    // by their ending, so it does not have that of the importer.
    const path = `${toRelative(build.initialOptions.absWorkingDir ?? '', importer)}:names`;
    return { path, namespace, sideEffects: false, pluginData: contents.join('\n') };
  });
  build.onLoad({ filter: /.*/, namespace }, ({ pluginData }) => ({
    contents: pluginData,
    loader: 'js',
    resolveDir: dirname(index),
  }));
}

/**
 * Lists the values that a module exports from other modules.
 *
 * @param {string} source
 * @returns {Map<string, { local: string, file: string }>} the defining file and the name in it, by exported name
 */
export function listReExports(source) {
  const names = readNames(source);
  const imported = new Map(names.imports.map((entry) => [entry.localName.value, entry]));
  const exports = new Map();
  for (const { isType, exportName, localName, ...entry } of names.exports) {
    const { moduleRequest, importName } = entry.moduleRequest ? entry : (imported.get(localName.name) ?? {});
    if (!isType && moduleRequest) exports.set(exportName.name, { local: importName.name, file: moduleRequest.value });
  }
  return exports;
}

/** @returns {string[] | undefined} the values that a module imports by name; undefined if it imports in another way */
export function listImportedNames(source, from) {
  const { imports, exports } = readNames(source);
  const values = [...imports, ...exports].filter(
    ({ moduleRequest, isType }) => moduleRequest?.value === from && !isType,
  );
  if (values.some(({ importName }) => importName.kind !== 'Name')) return undefined;
  return [...new Set(values.map(({ importName }) => importName.name))].sort();
}

/** Returns the names that a module imports and exports, each with the module that it is from. */
export function readNames(source) {
  const { staticImports, staticExports } = parseSync('module.tsx', source).module;
  return {
    imports: staticImports.flatMap(({ moduleRequest, entries }) =>
      entries.map((entry) => ({ ...entry, moduleRequest })),
    ),
    exports: staticExports.flatMap(({ entries }) => entries),
  };
}
