import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * @typedef {object} OwnersBuild
 * @property {import('esbuild').Plugin[]} plugins
 * @property {Record<string, string>} alias
 * @property {string[]} external packages that the server loads from `node_modules`, because they read their own files
 * @property {string[]} helpers files, relative to the root, whose functions throw on behalf of their callers, like
 * `invariant`. Digests skip them.
 * @property {import('./locations/moves.mjs').Move[]} moves
 */

/**
 * Reads the options that `src/server/product/build.mjs` exports: `export default { plugins: [], alias: {} }`. Plugins and
 * aliases apply to both bundles, plugins also to style sheets, which are compiled separately.
 *
 * @param {string} root
 * @returns {Promise<OwnersBuild>}
 */
export async function readOwnersBuild(root) {
  const file = join(root, 'src/server/product/build.mjs');
  const own = existsSync(file) ? (await import(pathToFileURL(file).href)).default : {};
  const { plugins = [], alias = {}, external = [], helpers = [], moves = [] } = own ?? {};
  return { plugins, alias, external, helpers, moves };
}
