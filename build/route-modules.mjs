import { isAbsolute, relative, resolve } from 'node:path';
import * as esbuild from 'esbuild';

/**
 * Learns from the route tables which file each route's page is. A table is bundled alone with its
 * dynamic imports left as they are, and evaluated; the path is then read from the text of `page`.
 *
 * @param {string} root
 * @param {string[]} tables files that export a list named `routes`, relative to `root`
 * @param {esbuild.BuildOptions} options
 * @returns {Promise<Record<string, string>>} by route id the page's file, relative to `root`
 */
export async function readRouteModules(root, tables, options) {
  const modules = {};
  for (const table of tables) {
    const { routes } = await evaluate(root, table, options);
    if (!Array.isArray(routes))
      throw new Error(`${table} exports no list \`routes\`. Write \`export const routes = defineRoutes([...])\`.`);
    collect(root, table, routes, modules);
  }
  return modules;
}

async function evaluate(root, table, options) {
  const { outputFiles } = await esbuild.build({
    ...options,
    absWorkingDir: root,
    entryPoints: [table],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    outdir: 'dist',
    plugins: [...(options.plugins ?? []), keepPages],
  });
  const text = outputFiles.find(({ path }) => path.endsWith('.js'))?.text ?? '';
  return import(`data:text/javascript;base64,${Buffer.from(text).toString('base64')}`);
}

/** Relative dynamic imports become absolute paths, so that a table may be put together from several files. */
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
        `The route "${route.id}" in ${table} has a \`page\` that the build cannot read a file from: ${String(route.page)}. Write it as \`page: () => import('./pages/<page>/<page>.tsx')\`.`,
      );
    }
    if (Object.hasOwn(modules, route.id))
      throw new Error(
        `Two routes have the id "${route.id}". Ids name the data and actions of a page: give each its own.`,
      );
    modules[route.id] = relative(root, path).replaceAll('\\', '/');
    collect(root, table, route.children ?? [], modules);
  }
}
