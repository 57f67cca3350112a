import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';

const modules = { 'spillway:router': 'router.js', 'spillway:history': 'history.js' };

/**
 * `spillway:router` and `spillway:history` are React Router's `createRouter` and
 * `createBrowserHistory`, as a copy of their own. esbuild splits by file: `RouterProvider` needs a
 * few constants of `router.js`, and would draw all of it into the first load if the chunk that is
 * loaded late shared that file. The copy costs the late chunk a few kB of what the first one has.
 *
 * @param {string} root
 * @param {{ dev: boolean }} mode
 * @returns {import('esbuild').Plugin}
 */
export function lazyRouter(root, { dev }) {
  const folder = join(root, 'node_modules/react-router/dist', dev ? 'development' : 'production', 'lib/router');
  return {
    name: 'lazy-router',
    setup(build) {
      build.onResolve({ filter: /^spillway:/ }, ({ path }) => {
        const file = modules[path];
        if (file) return { path: file, namespace: 'lazy-router', sideEffects: false };
        return {
          errors: [{ text: `"${path}" is no module of the build. There are ${Object.keys(modules).join(' and ')}.` }],
        };
      });
      build.onResolve({ filter: /^\.\.?\//, namespace: 'lazy-router' }, ({ path, importer }) => ({
        path: posix.join(posix.dirname(importer), path),
        namespace: 'lazy-router',
        sideEffects: false,
      }));
      build.onLoad({ filter: /.*/, namespace: 'lazy-router' }, async ({ path }) => ({
        contents: await readFile(join(folder, path), 'utf8'),
        loader: 'js',
        resolveDir: folder,
      }));
    },
  };
}
