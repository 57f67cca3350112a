import { hash } from 'node:crypto';
import { browserTarget, clientOptions } from '../bundles.mjs';
import { listClientFiles } from '../client-app.mjs';
import { readRouteModules } from '../route-modules.mjs';
import { bundledOnce } from './bundled-once.mjs';
import { isProductFile } from './client-modules.mjs';
import { createKeptContext } from './kept-context.mjs';

/**
 * @typedef {object} BuiltApp
 * @property {import('esbuild').Metafile} metafile
 * @property {import('esbuild').OutputFile[]} outputFiles
 * @property {{ path: string, contents: Uint8Array }[]} sheets
 * @property {import('../../src/shared/engine/wire/manifest.ts').AppAssets} assets
 * @property {string} id changes with the app: its pages have to reload
 */

/**
 * Builds an app only when one of its files changes. It contains no product code, so edits of the product do not
 * rebuild it.
 *
 * @param {string} root
 * @param {typeof import('../destination.mjs').apps[number]} app
 * @param {{ outdir: string, styles: ReturnType<typeof import('../styles.mjs').createStyles> }} options
 */
export function createAppDevBuild(root, { name, devEntry, table }, { outdir, styles }) {
  let context;
  /** @type {BuiltApp | undefined} */
  let built;

  async function rebuild() {
    const [{ metafile, outputFiles }, routeModules] = await Promise.all([
      context.rebuild(),
      readRouteModules(root, [table], { plugins: [styles.plugin] }),
    ]);
    const files = await listClientFiles({ root, metafile, entry: devEntry, routeModules, outdir, styles });
    const names = [...outputFiles, ...files.sheets].map(({ path }) => path).sort();
    return { metafile, outputFiles, ...files, id: hash('sha256', names.join('\n')) };
  }

  return {
    /** @param {{ owner: Awaited<ReturnType<typeof import('../owner.mjs').readOwnersBuild>> }} parts */
    async open({ owner }) {
      const base = clientOptions({ root, name, entry: devEntry, outdir, dev: true, owner, styles });
      built = undefined;
      const options = {
        ...base,
        sourcemap: /** @type {const} */ ('linked'),
        sourceRoot: undefined,
        plugins: [bundledOnce(root, browserTarget), ...base.plugins],
      };
      context = createKeptContext(name, options, { root, owner });
    },

    async dispose() {
      await context?.dispose();
      context = undefined;
    },

    /**
     * @param {readonly string[]} changed files, relative to the root
     * @returns {Promise<BuiltApp>}
     */
    async build(changed) {
      if (!built || changed.length === 0 || !changed.every(isProductFile)) built = await rebuild();
      return built;
    },
  };
}
