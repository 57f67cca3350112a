import { hash } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import * as esbuild from 'esbuild';
import { findDesk, productApp } from '../apps.mjs';
import { browserTarget, bundleServer, clientOptions, listServerParts } from '../bundles.mjs';
import { buildClientApp, listClientFiles } from '../client-app.mjs';
import { readFiles } from '../files.mjs';
import { isServed, nameSources, placeOutputs } from '../output.mjs';
import { readOwnersBuild } from '../owner.mjs';
import { reuse } from '../reuse.mjs';
import { readRouteModules } from '../route-modules.mjs';
import { listOthers } from '../stamp.mjs';
import { createStyles } from '../styles.mjs';
import { createBase } from './base.mjs';
import { createClientModules } from './client-modules.mjs';
import { createServerLayers } from './server-layers.mjs';

const devEntry = 'src/client/develop/entry.ts';
/** Connects product and engine. */
const wiring = productApp.entry;
/** Apart from that of `npm run build`, so that both can run at the same time. */
export const devFolder = 'dist-dev';
const clientFolder = `${devFolder}/client`;
const publicFolder = 'src/client/public';

/** The constant build id of a development server: its pages are never from another build. */
const buildId = 'development';

/**
 * The state of the last build, for open pages.
 *
 * @typedef {object} ClientState
 * @property {Record<string, string>} modules the URL of the last version, by product file
 * @property {Record<string, string>} routes the page's file, by route id
 * @property {Record<string, string[]>} styles by route id
 * @property {string} others changes with the other apps: their pages have to reload
 * @property {string} base changes with anything that pages cannot exchange: they have to reload
 */

/**
 * Creates an incremental build. Engine and packages are bundled once. An edit of the product compiles only the modules
 * that changed for the browser, and links only a layer of the server.
 *
 * @param {string} root
 * @param {(line: string) => void} warn shows a warning about the product
 */
export async function createDevBuild(root, warn) {
  const dist = join(root, devFolder);
  const desk = findDesk(root);
  let routes;
  /** Files that changed since the last build of each side that succeeded. */
  const unbuilt = { client: new Set(), server: new Set() };
  /** The manifest of the client's last build. */
  let manifestText = '';
  /** Texts of the files on disk, and hashes of the others, so that a rebuild writes only changed files. */
  const written = new Map();
  /** Where the public files of the last build are. */
  let publicPaths;
  /** The files that the last builds of each side read. */
  const inputs = { client: {}, server: {} };

  const owner = await readOwnersBuild(root);
  const outdir = join(root, clientFolder);
  const styles = createStyles(root, { minify: false, target: browserTarget, outdir, plugins: owner.plugins });
  const options = { root, dev: true, owner, styles };
  const client = { ...clientOptions({ ...options, entry: devEntry, outdir: clientFolder }), sourceRoot: undefined };
  const modules = createClientModules(root, client, { wiring, table: productApp.table, outdir: clientFolder });
  const atUrl = {
    name: 'modules',
    setup: (build) => build.onResolve({ filter: /^\/_dev\// }, ({ path }) => ({ path, external: true })),
  };
  const linked = { ...client, sourcemap: 'linked', plugins: [atUrl, ...client.plugins] };
  const toSource = () => `await import(${JSON.stringify(modules.wiringUrl)});`;
  const base = createBase('client-base', root, linked, { owner, at: wiring, toSource });
  const server = createServerLayers({ ...options, outdir: `${devFolder}/server`, warn });
  // Files of an earlier `npm run dev`: each edit adds some.
  await rm(dist, { recursive: true, force: true });
  await write([{ path: 'owner.json', contents: JSON.stringify({ helpers: owner.helpers, moves: owner.moves }) }]);

  /** Reads the route table again only if one of its modules changed. */
  async function readRoutes(changed) {
    if (routes && !changed.some((file) => modules.listWithImports(productApp.table).has(file))) return routes;
    routes = await readRouteModules(root, productApp.table, options);
    return routes;
  }

  const parts = { ...options, outdir: `${devFolder}/server`, entryPoints: listServerParts(root), warn };
  const buildParts = onlyIfChanged(() => reuse('parts', options, () => bundleServer(parts)));
  const buildOthers = desk.apps.map((app) => {
    const build = () => buildClientApp({ ...app, entry: app.devEntry }, { ...options, outdir: clientFolder });
    return onlyIfChanged(() => reuse(app.name, options, build));
  });

  async function write(files) {
    await Promise.all(
      files.map(async ({ path, contents, end = '' }) => {
        const fact = typeof contents === 'string' ? contents : toHash(contents);
        if (written.get(path) === fact) return;
        await mkdir(dirname(join(dist, path)), { recursive: true });
        await writeFile(join(dist, path), [contents, end]);
        written.set(path, fact);
      }),
    );
  }

  /** Reads the public files only if one changed, because videos can be among them. */
  async function writePublic(changed) {
    if (publicPaths && !changed.some((file) => file.startsWith(publicFolder))) return;
    const files = await readFiles(join(root, publicFolder));
    await write(files.map((file) => ({ ...file, path: `client/${file.path}` })));
    const paths = new Set(files.map(({ path }) => `client/${path}`));
    for (const path of publicPaths?.difference(paths) ?? []) {
      await rm(join(dist, path), { force: true });
      written.delete(path);
    }
    publicPaths = paths;
  }

  /** Repeats a build with a new service if that of esbuild has ended, as when the system runs out of memory. */
  async function withService(run) {
    try {
      return await run();
    } catch (error) {
      if (!/The service (?:is no longer running|was stopped)/.test(error?.message)) throw error;
      warn('The process of esbuild has ended. Starting another one.');
      await esbuild.transform('').catch(esbuild.stop); // the build of the other side can have started it already
      server.forgetService();
      return run();
    }
  }

  async function buildClient(files) {
    for (const file of files) {
      for (const side of Object.values(unbuilt)) side.add(file);
      styles.forget(join(root, file));
    }
    const changed = [...unbuilt.client];
    const isChanged = (metafile) => names(metafile, changed);
    const routeModules = await readRoutes(changed);
    await modules.update(Object.values(routeModules), changed);
    const [builtBase, ...builtOthers] = await Promise.all([
      base.build(modules.baseFiles, isChanged),
      ...buildOthers.map((build) => build(isChanged)),
    ]);
    const { inputs: ofModules, outputs } = modules.toMetafile();
    inputs.client = { ...builtBase.metafile.inputs, ...ofModules };
    const { sheets, assets } = await listClientFiles({
      metafile: {
        inputs: inputs.client,
        outputs: { ...builtBase.metafile.outputs, ...outputs },
      },
      entry: devEntry,
      styled: wiring,
      routeModules,
      outdir: clientFolder,
      styles,
    });
    const apps = Object.fromEntries(desk.apps.map(({ name }, index) => [name, builtOthers[index].assets]));
    const text = `${JSON.stringify({ buildId, ...assets, apps }, null, 2)}\n`;
    const outputFiles = [
      ...builtBase.outputFiles,
      ...modules.emit(),
      ...sheets,
      ...builtOthers.flatMap((built) => built.outputFiles),
    ];
    const placed = placeOutputs(dist, nameSources(root, outputFiles), { serveMaps: true });
    await write([...placed, { path: 'manifest.json', contents: text }]);
    await writePublic(changed);
    manifestText = text;
    unbuilt.client.clear();
    return {
      modules: modules.listUrls(),
      routes: routeModules,
      styles: Object.fromEntries(Object.entries(assets.routes).map(([id, route]) => [id, route.styles])),
      others: hash('sha256', JSON.stringify(apps)),
      // Its name changes with everything that it imports.
      base: `${assets.entry.script} ${modules.getWiringVersion()}`,
    };
  }

  async function buildServer(isExact) {
    const changed = [...unbuilt.server];
    unbuilt.server.clear();
    const isChanged = (metafile) => names(metafile, changed);
    try {
      const [layers, others] = await Promise.all([server.build(isChanged, isExact), buildParts(isChanged)]);
      inputs.server = layers.inputs;
      const outputFiles = [...layers.outputFiles, ...others.outputFiles];
      await write(placeOutputs(dist, outputFiles).map(toMapped));
      // A server reads the manifest once. Without it in the hash, pages would get style sheets of an earlier build.
      return { name: hash('sha256', manifestText + toName(outputFiles)), lasting: toName(layers.lasting) };
    } catch (error) {
      for (const file of changed) unbuilt.server.add(file);
      throw error;
    }
  }

  return {
    dispose: () => server.dispose(),

    /** See `stamp.mjs`. */
    listOthers: () => listOthers({ ...inputs.client, ...inputs.server }),

    /**
     * @param {readonly string[]} files that changed, relative to the root
     * @returns {Promise<ClientState>}
     * @throws {import('esbuild').BuildFailure | Error}
     */
    buildClient: (files) => withService(() => buildClient(files)),

    /**
     * Builds the server. Call it after `buildClient`, with the same sources.
     *
     * @param {boolean} [isExact] see `createServerLayers`
     * @returns {Promise<{ name: string, lasting: string }>} hashes of the server, and of what one can load ahead of the
     *   next edit of the product
     * @throws {import('esbuild').BuildFailure}
     */
    buildServer: (isExact = false) => withService(() => buildServer(isExact)),
  };
}

/** Repeats a build without product code only if one of its files changed. */
function onlyIfChanged(build) {
  let last;
  return async function buildIfChanged(isChanged) {
    if (!last || isChanged(last.metafile)) last = await build();
    return last;
  };
}

const hashes = new WeakMap();

/** Most outputs are those of the build before. */
function toHash(contents) {
  if (!hashes.has(contents)) hashes.set(contents, hash('sha256', contents));
  return hashes.get(contents);
}

/** Hashes bundles. Their source maps change with comments too. */
function toName(outputFiles) {
  const bundles = outputFiles.filter(({ path }) => path.endsWith('.js'));
  return hash('sha256', bundles.map(({ path, contents }) => path + toHash(contents)).join(' '));
}

/**
 * Puts a source map of the server next to its file, and adds a line with its name to the file, because esbuild's line has the path of
 * an asset.
 */
function toMapped({ path, contents }) {
  if (isServed({ path })) return { path, contents };
  if (path.endsWith('.map')) return { path: path.replace(/^maps\//, ''), contents };
  return { path, contents, end: `\n//# sourceMappingURL=${basename(path)}.map\n` };
}

/** Whether a build contains one of these files or folders. */
function names({ inputs }, files) {
  return Object.keys(inputs).some((input) => files.some((file) => input.includes(file)));
}
