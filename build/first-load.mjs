import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { toRelative } from './files.mjs';

/** Prefix of dynamically imported files in the metafile. */
const namespace = 'late';

/**
 * Keeps all static imports of the entry in one chunk. By default, esbuild creates a chunk for each set of dynamically
 * imported modules that shares code with the entry: a dozen files that always load together, 3 kB larger than one. This
 * plugin adds the entry's imports to every dynamically imported module, so that all of them share everything. These
 * imports are already loaded by then, so nothing more is loaded or run.
 *
 * The entry itself is not added. It waits for dynamically imported modules, which would then wait for it.
 *
 * @param {string} root
 * @param {string} entry
 * @returns {import('esbuild').Plugin}
 */
export function firstLoad(root, entry) {
  return {
    name: 'first-load',
    setup(build) {
      let imports;
      build.onResolve({ filter: /^\./ }, async ({ kind, path, importer, resolveDir, pluginData }) => {
        const isLate = kind === 'dynamic-import' && importer.startsWith(join(root, 'src'));
        if (!isLate || pluginData === namespace) return;
        const found = await build.resolve(path, { kind, importer, resolveDir, pluginData: namespace });
        if (found.errors.length > 0 || found.external || found.namespace !== 'file') return found;
        return { path: toRelative(root, found.path), namespace };
      });
      build.onLoad({ filter: /.*/, namespace }, async ({ path }) => {
        imports ??= listImports(root, entry);
        // The path is relative to the root, because these lines are part of the chunk's hash.
        const late = JSON.stringify(`./${path}`);
        const contents = `${await imports}
export * from ${late};
import * as late from ${late};
export default late.default;`;
        return { contents, loader: 'js', resolveDir: root };
      });
    },
  };
}

/** Returns import statements for the modules of `src` that the entry imports statically, without type imports. */
async function listImports(root, entry) {
  const source = await readFile(join(root, entry), 'utf8');
  const found = source.matchAll(/^\s*import\s+(?!type\b)(?:[^'";]*?from\s*)?(['"])(\.[^'"]+)\1/gm);
  return [...found].map(([, , path]) => `import "./${posix.join(posix.dirname(entry), path)}";`).join('\n');
}

/**
 * @param {string} entryPoint its name in the metafile
 * @returns {string} the file, relative to the root
 */
export function toLazyFile(entryPoint) {
  return entryPoint.startsWith(`${namespace}:`) ? entryPoint.slice(namespace.length + 1) : entryPoint;
}
