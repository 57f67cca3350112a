import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { transform } from 'oxc-transform';

/** Whose modules can be exchanged in a page that is open. */
export const productFolders = ['src/shared/product/', 'src/client/product/'];

/** The namespace of what loads a page by the name of its file. */
export const byName = 'page-by-name';

/** @param {string} path relative to the root */
export function isProductModule(path) {
  return isProductFile(path) && /\.tsx?$/.test(path) && !path.endsWith('.d.ts');
}

/** @param {string} path relative to the root, of a module, a style sheet or a picture */
export function isProductFile(path) {
  return productFolders.some((folder) => path.startsWith(folder));
}

/**
 * Compiles the product's modules so that React can exchange their components: each component is
 * registered under its file and name, with a signature of the hooks that it calls. The constants
 * stand on the first line, so that lines of source stay where they are.
 *
 * @param {string} root
 * @returns {import('esbuild').Plugin}
 */
export function fastRefresh(root) {
  /** By file, what was compiled of which text: a rebuild asks for all of them again. */
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
  // esbuild says the same of a syntax error, with the line: let it.
  if (errors.length > 0) return { contents: source, loader: path.endsWith('.tsx') ? 'tsx' : 'ts' };
  const name = JSON.stringify(path);
  const head =
    `import { register as $spillwayRegister, createSignatureFunctionForTransform as $RefreshSig$ } from 'react-refresh/runtime';` +
    `const $RefreshReg$ = (type, id) => $spillwayRegister(type, ${name} + ' ' + id);` +
    // The number alone: it gives an edit that is undone another URL, because a browser evaluates each URL once.
    `globalThis.__spillway?.evaluated.add(${name}, ${edits});`;
  const mapUrl = `data:application/json;base64,${Buffer.from(JSON.stringify(map)).toString('base64')}`;
  return { contents: `${head}${code}\n//# sourceMappingURL=${mapUrl}`, loader: 'js' };
}

/**
 * Lets the route table of the browser load its pages by the name of their file, looked up when they
 * are wanted: an import would bake in the name of one build's output, and the table, with all that
 * imports it, would be another one after each edit of a page.
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
