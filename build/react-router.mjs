// Three things keep React Router small in the first load. esbuild puts a module into the chunk of
// everything that can reach it, used or not, so what one page uses of a package with one front door
// comes with the first load of every page.

import { realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { listNames, openFrontDoors } from './front-doors.mjs';

/** Its contexts, all of them: the same module that the package's own hooks read, on both sides. */
const contexts = 'spillway:router-contexts';

const ownModules = { 'spillway:router': 'router.js', 'spillway:history': 'history.js' };

/**
 * - `spillway:router` and `spillway:history` are `createRouter` and `createBrowserHistory` as a copy
 *   of their own: `RouterProvider` needs a few constants of the same files, and would draw all of
 *   them into the first load. The copy costs the late chunk a few kB of what the first one has.
 * - `react-router` becomes, for each module that imports it, a front door to the files alone that it
 *   names something of. So `useFetcher` in one page comes with that page.
 * - Names for developer tools are left out, because they keep alive whatever they are given to
 *   (`Link` and its prefetching, wherever `useFetcher` is used).
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
        openFrontDoors(build, {
          name: 'react-router',
          folder: dist,
          readExports: async () => listExports(await readFile(join(dist, 'index.js'), 'utf8')),
          isOurs: (importer) => importer.startsWith(join(root, 'src')),
        });
        dropDisplayNames(build);
      }
    },
  };
}

/**
 * An alias, and no plugin's answer: esbuild reads the package's `type` in its own resolution alone, and
 * one file that is reached in both ways is compiled by whichever was first, so that builds of the same
 * sources would differ.
 *
 * @param {string} root
 * @param {{ dev: boolean }} mode
 * @returns {Record<string, string>}
 */
export function routerContexts(root, { dev }) {
  return { [contexts]: join(distOf(root, dev), 'lib/context.js') };
}

/** Where the package really is, as esbuild names its files: a linked one would otherwise be in the bundle twice. */
function distOf(root, dev) {
  return join(realpathSync(join(root, 'node_modules/react-router')), 'dist', dev ? 'development' : 'production');
}

function copyRouter(build, folder) {
  const namespace = 'router-copy';
  build.onResolve({ filter: /^spillway:/ }, ({ path }) => {
    if (path === contexts) return undefined;
    const file = ownModules[path];
    if (file) return { path: file, namespace, sideEffects: false };
    const known = [...Object.keys(ownModules), contexts].join(', ');
    return { errors: [{ text: `"${path}" is no module of the build. There are: ${known}.` }] };
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

/** @returns {Map<string, { local: string, file: string }>} by exported name, the file that it comes from */
export function listExports(index) {
  const fileOf = new Map();
  for (const [, names, file] of index.matchAll(/^import \{([^}]+)\} from "(\.[^"]+)";$/gm)) {
    for (const { name, local } of listNames(names)) fileOf.set(local, { file, imported: name });
  }
  const exports = new Map();
  for (const [, names] of index.matchAll(/^export \{([^}]+)\};$/gm)) {
    for (const { name, local } of listNames(names)) {
      const origin = fileOf.get(name);
      if (origin) exports.set(local, { local: origin.imported, file: origin.file });
    }
  }
  return exports;
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
