import { bundleClient } from './bundles.mjs';
import { toLazyFile } from './first-load.mjs';
import { listAppAssets } from './manifest.mjs';
import { readRouteModules } from './route-modules.mjs';

/**
 * Builds all client files of one app.
 *
 * @param {import('./apps.mjs').App} app
 * @param {{ root: string, outdir: string, dev: boolean, owner: import('./owner.mjs').OwnersBuild, styles: ReturnType<typeof import('./styles.mjs').createStyles> }} options
 * @returns esbuild's metafile and warnings, all outputs, and the app's entry in the manifest
 */
export async function buildClientApp({ name, entry, table }, { root, outdir, dev, owner, styles }) {
  const [{ metafile, outputFiles, warnings }, routeModules] = await Promise.all([
    bundleClient({ root, name, entry, outdir, dev, owner, styles }),
    readRouteModules(root, table, { owner, styles }),
  ]);
  requireComponents(routeModules, warnings);
  const { sheets, assets } = await listClientFiles({ metafile, entry, routeModules, outdir, styles });
  return { metafile, outputFiles: [...outputFiles, ...sheets], warnings, assets };
}

/** @throws if a page has no default export: esbuild warns where its chunk reads it (`first-load.mjs`) */
function requireComponents(routeModules, warnings) {
  const missing = warnings
    .filter(({ id }) => id === 'import-is-undefined')
    .map(({ location }) => toLazyFile(location?.file ?? ''));
  for (const [id, module] of Object.entries(routeModules)) {
    if (missing.includes(module))
      throw new Error(`The page "${id}" (${module}) does not export a component as its default.`);
  }
}

/**
 * @param {{ metafile: import('esbuild').Metafile, entry: string, styled?: string, routeModules: Record<string, string>, outdir: string, styles: ReturnType<typeof import('./styles.mjs').createStyles> }} parts
 *   `styled` is the module whose style sheets load with the entry, if it is not the entry itself
 * @returns the style sheets as outputs, and the app's entry in the manifest
 */
export async function listClientFiles({ metafile, entry, styled = entry, routeModules, outdir, styles }) {
  const { sheets, urlsByUser } = await styles.bundle(metafile, styled, Object.values(routeModules));
  const styleUrls = urlsByUser.set(entry, urlsByUser.get(styled));
  return { sheets, assets: listAppAssets({ metafile, outdir, entry, routeModules, styleUrls }) };
}
