import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * The owner's plugins and aliases for esbuild, from `src/server/product/build.mjs`:
 * `export default { plugins: [], alias: {} }`. Both bundles get them, and so do style
 * sheets, each of which is compiled by itself. `helpers` names files, relative to the root, whose
 * functions throw for their callers, as `invariant` does: digests skip them.
 *
 * @param {string} root
 * @returns {Promise<{ plugins: import('esbuild').Plugin[], alias: Record<string, string>, helpers: string[] }>}
 */
export async function readOwnersBuild(root) {
  const file = join(root, 'src/server/product/build.mjs');
  const own = existsSync(file) ? (await import(pathToFileURL(file).href)).default : {};
  return { plugins: own?.plugins ?? [], alias: own?.alias ?? {}, helpers: own?.helpers ?? [] };
}
