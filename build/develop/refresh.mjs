import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { transform } from 'oxc-transform';

/** Folders whose modules can be replaced in open pages. */
export const productFolders = ['src/shared/product/', 'src/client/product/'];

/** Namespace of modules that load a page by its file name. */
export const byName = 'page-by-name';

/** @param {string} path relative to the root */
export function isProductModule(path) {
  return isProductFile(path) && /\.tsx?$/.test(path) && !path.endsWith('.d.ts');
}

/** @param {string} path relative to the root, of a module, a style sheet or an image */
export function isProductFile(path) {
  return productFolders.some((folder) => path.startsWith(folder));
}

/**
 * Compiles the product's modules for React Fast Refresh: each component is registered under its file and name, with a
 * signature of the hooks that it calls. The added code is on the first line, so that line numbers do not change.
 *
 * @param {string} root
 * @returns {import('esbuild').Plugin}
 */
export function fastRefresh(root) {
  /** Compiled modules and their source text, by file. A rebuild requests all of them again. */
  const compiled = new Map();
  return {
    name: 'fast-refresh',
    setup(build) {
      build.onLoad({ filter: /\.tsx?$/, namespace: 'file' }, async ({ path: file }) => {
        const path = relative(root, file).replaceAll('\\', '/');
        if (!isProductModule(path)) return;
        const source = await readFile(file, 'utf8');
        const known = compiled.get(file);
        if (known?.source === source) return known.result;
        const edits = known ? known.edits + 1 : 0;
        const result = await compile(path, file, source, edits);
        compiled.set(file, { source, edits, result });
        return result;
      });
    },
  };
}

async function compile(path, file, source, edits) {
  const { code, map, errors } = await transform(file, source, {
    lang: path.endsWith('.tsx') ? 'tsx' : 'ts',
    jsx: { runtime: 'automatic', development: true, refresh: true },
    sourcemap: true,
  });
  // esbuild reports the same syntax error, with its line.
  if (errors.length > 0) return { contents: source, loader: path.endsWith('.tsx') ? 'tsx' : 'ts' };
  const name = JSON.stringify(path);
  const head =
    `import { register as $spillwayRegister, createSignatureFunctionForTransform as $RefreshSig$ } from 'react-refresh/runtime';` +
    `const $RefreshReg$ = (type, id) => $spillwayRegister(type, ${name} + ' ' + id);` +
    // The number gives an undone edit a new URL, because a browser evaluates each URL once.
    `globalThis.__spillway?.evaluated.add(${name}, ${edits});`;
  const mapUrl = `data:application/json;base64,${Buffer.from(JSON.stringify(map)).toString('base64')}`;
  return { contents: `${head}${code}\n//# sourceMappingURL=${mapUrl}`, loader: 'js' };
}

/**
 * Makes the browser's route table load pages by file name, which is looked up when the page is needed. An import would
 * contain the name of one build's output, so each edit of a page would change the table and everything that imports it.
 *
 * @param {string} root
 * @param {readonly string[]} tables relative to the root
 * @returns {import('esbuild').Plugin}
 */
export function pagesByName(root, tables) {
  const names = new Set(tables);
  return {
    name: 'pages-by-name',
    setup(build) {
      build.onResolve({ filter: /^\./ }, async ({ kind, path, importer, resolveDir, pluginData }) => {
        if (kind !== 'dynamic-import' || pluginData === 'by-name') return;
        if (!names.has(relative(root, importer).replaceAll('\\', '/'))) return;
        const found = await build.resolve(path, { kind, importer, resolveDir, pluginData: 'by-name' });
        if (found.errors.length > 0) return found;
        return { path: relative(root, found.path).replaceAll('\\', '/'), namespace: byName };
      });
      build.onLoad({ filter: /.*/, namespace: byName }, ({ path }) => ({
        contents: `const page = await globalThis.__spillway.load(${JSON.stringify(path)});
export default page.default;
export const ErrorBoundary = page.ErrorBoundary;`,
        loader: 'js',
      }));
    },
  };
}
