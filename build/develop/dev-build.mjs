import { hash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import * as esbuild from 'esbuild';
import { product } from '../apps.mjs';
import { browserTarget, clientOptions, serverOptions, serverParts } from '../bundles.mjs';
import { listClientFiles } from '../client-app.mjs';
import { requireClientInputs } from '../client-inputs.mjs';
import { listFiles, readFiles } from '../files.mjs';
import { sortOutputs } from '../output.mjs';
import { readOwnersBuild } from '../owner.mjs';
import { readRouteModules } from '../route-modules.mjs';
import { createStyles } from '../styles.mjs';
import { bundledOnce } from './bundled-once.mjs';
import { dependenciesOnce } from './dependencies-once.mjs';
import { createDeskDevBuild } from './desk-dev-build.mjs';
import { byName, fastRefresh, isProductModule, pagesByName, productFolders } from './refresh.mjs';
import { createStableNames } from './stable-names.mjs';

const devEntry = 'src/client/engine/develop/entry.ts';
/** Connects product and engine. It belongs to neither, and changes only with its own text. */
const wiring = product.entry;
const engineEntry = 'src/client/engine/hydration/hydrate.tsx';
const serverEntry = 'src/server/main.ts';
const routeTables = [product.table];
const clientFolder = 'dist/client';

/** The constant build id of a development server: its pages are never from another build. */
const buildId = 'development';

/**
 * The state of the last build, for open pages.
 *
 * @typedef {object} ClientState
 * @property {Record<string, string>} modules the URL of the output, by product file
 * @property {Record<string, string>} routes the page's file, by route id
 * @property {Record<string, string[]>} styles by route id
 * @property {string} desk changes with the desk: its pages have to reload
 * @property {string} base changes with anything outside the product: pages have to reload
 */

/**
 * Creates an incremental build. Every module of the product is a separate entry with its own output, so that an edit
 * renames only the output of the edited module and the outputs that import it.
 *
 * @param {string} root
 */
export function createDevBuild(root) {
  const dist = join(root, 'dist');
  let client;
  /** The last build of the client; undefined if it failed or has not run. */
  let builtClient;
  let server;
  let serverBase;
  let parts;
  /** The last build of the server's separate parts. */
  let builtParts;
  /** Files that changed since then. If the client's build fails, the server is not built. */
  const untaken = new Set();
  let dependencies;
  let entries = '';
  /** The manifest of the client's last build. */
  let manifestText = '';
  /** Hashes of the files on disk, so that a rebuild writes only changed files. */
  const written = new Map();
  const keepNames = createStableNames(root);
  const sdk = bundledOnce(root, browserTarget);
  let owner;
  const styles = createStyles(root, { minify: false, target: browserTarget, outdir: join(root, clientFolder) });
  const desk = createDeskDevBuild(root, { outdir: clientFolder, styles });

  /** Creates the client's context again if the list of entries has changed, and the others once. */
  async function open() {
    const files = listEntries(root);
    const key = files.join('\n');
    if (client && key === entries) return;
    owner ??= await readOwnersBuild(root);
    styles.use(owner.plugins);
    const options = { root, dev: true, owner, styles };
    const base = clientOptions({ ...options, entry: devEntry, outdir: clientFolder });
    await client?.dispose();
    client = undefined;
    builtClient = undefined;
    entries = key;
    client = await esbuild.context({
      ...base,
      entryPoints: files,
      outbase: root,
      entryNames: 'assets/[name]-[hash]',
      sourcemap: 'linked',
      sourceRoot: undefined,
      plugins: [fastRefresh(root), pagesByName(root, routeTables), sdk, ...base.plugins],
    });
    if (server) return;
    dependencies = dependenciesOnce(root);
    serverBase = {
      ...serverOptions({ ...options, outdir: 'dist/server', warn: () => {} }),
      sourceRoot: undefined,
    };
    server = await esbuild.context({
      ...serverBase,
      entryPoints: { main: serverEntry },
      plugins: [dependencies.plugin, ...serverBase.plugins],
    });
    parts = await esbuild.context({ ...serverBase, entryPoints: serverParts });
    await desk.open({ owner });
  }

  async function dispose() {
    await Promise.all([client, server, parts, desk].map((context) => context?.dispose()));
  }

  /** Rebuilds the parts only if a changed file is part of them. */
  async function buildParts() {
    const changed = [...untaken];
    untaken.clear();
    if (!builtParts || names(builtParts.metafile, changed)) {
      builtParts = undefined;
      builtParts = await parts.rebuild();
    }
    return builtParts.outputFiles;
  }

  async function write(files) {
    await Promise.all(
      files.map(async ({ path, contents }) => {
        const name = hash('sha256', contents);
        if (written.get(path) === name) return;
        await mkdir(dirname(join(dist, path)), { recursive: true });
        await writeFile(join(dist, path), contents);
        written.set(path, name);
      }),
    );
  }

  return {
    dispose,

    /**
     * @param {readonly string[]} changed files, relative to the root
     * @returns {Promise<ClientState>}
     * @throws {esbuild.BuildFailure | Error}
     */
    async buildClient(changed) {
      await open();
      for (const file of changed) {
        untaken.add(file);
        styles.forget(join(root, file));
      }
      const isServers = changed.length > 0 && changed.every((file) => file.startsWith('src/server/'));
      if (builtClient && isServers && !builtClient.metafiles.some((metafile) => names(metafile, changed)))
        return builtClient.state;
      builtClient = undefined;
      const [built, builtDesk, routeModules, publicFiles] = await Promise.all([
        client.rebuild(),
        desk.build(changed),
        readRouteModules(root, routeTables, { plugins: [styles.plugin] }),
        readFiles(join(root, 'src/client/public')),
      ]);
      requireClientInputs(built.metafile);
      const { metafile, outputFiles } = keepNames(built);
      const { sheets, assets } = await listClientFiles({
        root,
        metafile: { ...metafile, outputs: withoutNames(metafile.outputs) },
        entry: devEntry,
        styled: wiring,
        routeModules,
        outdir: clientFolder,
        styles,
      });
      const manifest = { buildId, ...assets, apps: { desk: builtDesk.assets } };
      manifestText = `${JSON.stringify(manifest, null, 2)}\n`;
      const { served, unserved } = sortOutputs(dist, [...outputFiles, ...builtDesk.outputFiles], { serveMaps: true });
      await write([
        ...[...served, ...sheets, ...builtDesk.sheets, ...publicFiles].map((file) => ({
          ...file,
          path: `client/${file.path}`,
        })),
        ...unserved,
        { path: 'manifest.json', contents: manifestText },
      ]);
      const state = {
        modules: listModules(metafile),
        routes: routeModules,
        styles: Object.fromEntries(Object.entries(manifest.routes).map(([id, route]) => [id, route.styles])),
        desk: builtDesk.name,
        base: await hashBase(root, metafile),
      };
      builtClient = { state, metafiles: [metafile, builtDesk.metafile] };
      return state;
    },

    /**
     * Builds the server. Call it after `buildClient`, with the same sources.
     *
     * @returns {Promise<string>} a hash of the server
     * @throws {esbuild.BuildFailure}
     */
    async buildServer() {
      await open();
      const [main, others] = await Promise.all([server.rebuild(), buildParts()]);
      const outputFiles = [...main.outputFiles, ...others, ...(await dependencies.build(serverBase))];
      const { served, unserved } = sortOutputs(dist, outputFiles, { serveMaps: false });
      await write([...unserved.map(toMapped), ...served.map((file) => ({ ...file, path: `client/${file.path}` }))]);
      const bundles = outputFiles.filter(({ path }) => /\.m?js$/.test(path));
      // A server reads the manifest once. Without it in the hash, pages would get style sheets of an earlier build.
      return hash('sha256', [manifestText, ...bundles.map(({ contents }) => hash('sha256', contents))].join(' '));
    },

    /** Removes files of an earlier build, and its stamp, so that this build is not used by `npm start`. */
    async clean() {
      await rm(join(dist, '.stamp'), { force: true });
      // In development, the server's stacks name source files, so there is no table. An old table would be wrong.
      await rm(join(dist, 'sites.json'), { force: true });
      await rm(join(dist, 'client'), { recursive: true, force: true });
    },
  };
}

/**
 * Puts a source map next to its file, and adds a line with its name to the file, because esbuild's line has the path of
 * an asset. Dependencies have no source maps.
 */
function toMapped({ path, contents }) {
  if (path.endsWith('.mjs')) return { path, contents };
  if (path.endsWith('.map')) return { path: path.replace(/^maps\//, ''), contents };
  const line = `\n//# sourceMappingURL=${basename(path)}.map\n`;
  return { path, contents: Buffer.concat([contents, Buffer.from(line)]) };
}

/** Whether a build contains one of these files or folders. */
function names({ inputs }, files) {
  return Object.keys(inputs).some((input) => files.some((file) => input.includes(file)));
}

function listEntries(root) {
  const files = productFolders
    .flatMap((folder) => listFiles(join(root, folder)).map((path) => `${folder}${path}`))
    .filter(isProductModule)
    .sort();
  return [devEntry, wiring, engineEntry, ...files];
}

/** Removes the outputs that look up a page by its name, because they have the page's file as their entry too. */
function withoutNames(outputs) {
  return Object.fromEntries(
    Object.entries(outputs).filter(([, { entryPoint = '' }]) => !entryPoint.startsWith(byName)),
  );
}

/** Returns the URL of the output, by product file. */
function listModules(metafile) {
  const outputs = Object.entries(metafile.outputs).filter(([, { entryPoint = '' }]) => isProductModule(entryPoint));
  return Object.fromEntries(outputs.map(([path, { entryPoint }]) => [entryPoint, path.slice(clientFolder.length)]));
}

/**
 * Hashes engine and dependencies by their outputs, whose names contain a hash of their content, and the wiring by its
 * text. A dependency that only one product module uses is in that module's output, and is replaced with it.
 */
async function hashBase(root, metafile) {
  const isOthers = (input) =>
    !(input.endsWith('.css') || input === wiring || input === devEntry || input.includes(':'));
  const names = Object.entries(metafile.outputs)
    .map(([path, { inputs }]) => ({ path, inputs: Object.keys(inputs) }))
    .filter(({ path, inputs }) => !path.endsWith('.map') && inputs.some(isOthers) && !inputs.some(isProductModule))
    .map(({ path }) => path);
  return hash('sha256', [...names.sort(), await readFile(join(root, wiring), 'utf8')].join('\n'));
}
