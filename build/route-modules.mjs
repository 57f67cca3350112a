import { isAbsolute, resolve } from 'node:path';
import * as esbuild from 'esbuild';
import { toRelative } from './files.mjs';
import { assetLoaders } from './styles.mjs';

/**
 * Finds the file of each route's page. It bundles and evaluates the route table with its dynamic imports unchanged, and
 * reads the path from the source text of `page`.
 *
 * @param {string} root
 * @param {string} table a file that exports a list named `routes`, relative to `root`
 * @param {{ owner: import('./owner.mjs').OwnersBuild, styles: ReturnType<typeof import('./styles.mjs').createStyles> }} options
 * @returns {Promise<Record<string, string>>} the page's file by route id, relative to `root`
 */
export async function readRouteModules(root, table, options) {
  const modules = {};
  const { routes } = await evaluate(root, table, options);
  if (!Array.isArray(routes))
    throw new Error(
      `${table} does not export an array \`routes\`. Write \`export const routes = defineRoutes([...])\`.`,
    );
  collect(root, table, routes, modules);
  return modules;
}

async function evaluate(root, table, { owner, styles }) {
  const { outputFiles } = await esbuild.build({
    absWorkingDir: root,
    entryPoints: [table],
    bundle: true,
    charset: 'utf8', // keeps paths as they are
    write: false,
    logLevel: 'silent', // the bundles have the same modules
    format: 'esm',
    platform: 'node',
    outdir: 'dist',
    alias: owner.alias,
    loader: assetLoaders,
    plugins: [styles.plugin, ...owner.plugins, keepPages],
  });
  const text = outputFiles.find(({ path }) => path.endsWith('.js'))?.text ?? '';
  return import(`data:text/javascript;base64,${Buffer.from(text).toString('base64')}`);
}

/** Makes relative dynamic imports absolute, so that a table can consist of several files. */
const keepPages = {
  name: 'keep-pages',
  setup(build) {
    build.onResolve({ filter: /.*/ }, ({ kind, path, resolveDir }) => {
      if (kind === 'dynamic-import')
        return { path: path.startsWith('.') ? resolve(resolveDir, path) : path, external: true };
    });
  },
};

function collect(root, table, routes, modules) {
  for (const route of routes) {
    const path = /^(?:async )?\(\)\s*=>\s*import\((["'])(.+)\1\)$/.exec(String(route.page))?.[2];
    if (!path || !isAbsolute(path)) {
      throw new Error(
        `The route "${route.id}" in ${table} has a \`page\` from which the build cannot read a file: ${String(route.page)}. Write it as \`page: () => import('./pages/<page>/<page>.tsx')\`.`,
      );
    }
    if (Object.hasOwn(modules, route.id))
      throw new Error(
        `Two routes have the id "${route.id}". Ids identify the data and actions of a page. Give each route a unique id.`,
      );
    modules[route.id] = toRelative(root, path);
    collect(root, table, route.children ?? [], modules);
  }
}
