// Three changes keep React Router small in the first load. esbuild puts a module into the chunk of everything that can
// reach it, used or not. Without these changes, everything that one page uses of the package's single index would be in
// the first load of every page.

import { realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { importByName } from './import-by-name.mjs';
import { findPackage } from './packages.mjs';

/** All contexts of React Router: the same module that the package's hooks use, on both sides. */
const contexts = 'spillway:router-contexts';

const ownModules = { 'spillway:router': 'router.js', 'spillway:history': 'history.js' };

/**
 * - `spillway:router` and `spillway:history` are separate copies of `createRouter` and `createBrowserHistory`.
 *   `RouterProvider` needs a few constants of the same files, and would pull all of them into the first load. The copies
 *   repeat a few kB of the first load in a later chunk.
 * - For each module that imports `react-router`, it becomes an index with only the imported names. So `useFetcher` in one
 *   page loads with that page.
 * - Names for developer tools are removed, because assigning them prevents tree shaking (of `Link` and its prefetching,
 *   if `useFetcher` is used).
 *
 * @param {string} root
 * @param {{ dev: boolean }} mode
 * @returns {import('esbuild').Plugin}
 */
export function reactRouter(root, { dev }) {
  const dist = distOf(root, dev);
  return {
    name: 'react-router',
    setup(build) {
      copyRouter(build, join(dist, 'lib/router'));
      if (!dev) {
        importByName(build, {
          name: 'react-router',
          index: join(dist, 'index.js'),
          isOurs: (importer) => importer.startsWith(join(root, 'src')),
        });
        dropDisplayNames(build);
      }
    },
  };
}

/**
 * Returns an alias for the contexts. A plugin would not work reliably: esbuild reads the package's `type` only in its own
 * resolution. A file that is reached both ways is compiled as it was reached first, so builds of the same sources would
 * differ.
 *
 * @param {string} root
 * @param {{ dev: boolean }} mode
 * @returns {Record<string, string>}
 */
export function routerContexts(root, { dev }) {
  return { [contexts]: join(distOf(root, dev), 'lib/context.js') };
}

/** Returns the real path of the package, as esbuild does. Otherwise a linked package would be in the bundle twice. */
function distOf(root, dev) {
  return join(realpathSync(findPackage('react-router', root)), 'dist', dev ? 'development' : 'production');
}

function copyRouter(build, folder) {
  const namespace = 'router-copy';
  build.onResolve({ filter: /^spillway:/ }, ({ path }) => {
    const file = ownModules[path];
    return file && { path: file, namespace, sideEffects: false };
  });
  build.onResolve({ filter: /^\.\.?\//, namespace }, ({ path, importer }) => ({
    path: posix.join(posix.dirname(importer), path),
    namespace,
    sideEffects: false,
  }));
  build.onLoad({ filter: /.*/, namespace }, async ({ path }) => ({
    contents: await readFile(join(folder, path), 'utf8'),
    loader: 'js',
    resolveDir: folder,
  }));
}

function dropDisplayNames(build) {
  build.onLoad({ filter: /[\\/]react-router[\\/]dist[\\/]production[\\/]lib[\\/].*\.js$/ }, async ({ path }) => {
    const source = await readFile(path, 'utf8');
    const contents = source
      .replace(/^\w+\.displayName = "\w+";$/gm, '')
      .replace(/= React\$1\.(forwardRef|memo|createContext)\(/g, '= /* @__PURE__ */ React$$1.$1(');
    return { contents, loader: 'js' };
  });
}
