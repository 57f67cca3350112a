import { readFile } from 'node:fs/promises';
import { join, posix, relative } from 'node:path';

/** What is loaded late is named after its file, with this before it, in the metafile. */
const namespace = 'late';

/**
 * Keeps what the entry brings in one chunk. esbuild makes a chunk for each set of late modules that
 * shares something with the entry: a dozen files that are always loaded together, 3 kB larger than
 * one. So every late module is given the entry's own imports: all share all of it. They are
 * loaded by then, so nothing is loaded or run that was not.
 *
 * The entry itself is not among them: it waits for late modules, which would wait for it.
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
        return { path: relative(root, found.path).replaceAll('\\', '/'), namespace };
      });
      build.onLoad({ filter: /.*/, namespace }, async ({ path }) => {
        imports ??= listImports(root, entry);
        // Paths relative to the root: these lines count into the hash of the chunk.
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

/** The modules of `src` that the entry imports statically; what is imported as a type is left out. */
async function listImports(root, entry) {
  const source = await readFile(join(root, entry), 'utf8');
  const found = source.matchAll(/^\s*import\s+(?!type\b)(?:[^'";]*?from\s*)?(['"])(\.[^'"]+)\1/gm);
  return [...found].map(([, , path]) => `import "./${posix.join(posix.dirname(entry), path)}";`).join('\n');
}

/**
 * @param {string} entryPoint as the metafile names it
 * @returns {string} the file, relative to the root
 */
export function toLateFile(entryPoint) {
  return entryPoint.startsWith(`${namespace}:`) ? entryPoint.slice(namespace.length + 1) : entryPoint;
}
