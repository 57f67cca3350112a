// Must be first, so that an outdated Node reports its version before anything else is evaluated.
import './bin/require-node.mjs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import * as esbuild from 'esbuild';
import { hasRequiredNode } from './bin/require-node.mjs';
import { findDesk, productApp } from './build/apps.mjs';
import { browserTarget, bundleServer, formatWarnings, listServerParts, throwReadable } from './build/bundles.mjs';
import { buildClientApp } from './build/client-app.mjs';
import { readCommits } from './build/commits.mjs';
import { addDebugIds } from './build/debug-ids.mjs';
import { readFiles } from './build/files.mjs';
import { listLinkedPackages } from './build/linked-packages.mjs';
import { openSourceIndex } from './build/locations/source-index-cache.mjs';
import { createLocations } from './build/locations.mjs';
import { describeScripts, toBuildId } from './build/manifest.mjs';
import { beginBuild, finishBuild, isServed, nameSources, placeOutputs } from './build/output.mjs';
import { readOwnersBuild } from './build/owner.mjs';
import { listLoaded } from './build/packages.mjs';
import { packMaps, precompress } from './build/precompress.mjs';
import { nameRelease } from './build/release.mjs';
import { reuse } from './build/reuse.mjs';
import { warnOfSources } from './build/source-warnings.mjs';
import { listOthers, listSources, toFullStamp, toStamp, toTimeStamp } from './build/stamp.mjs';
import { createStyles } from './build/styles.mjs';
import { mapExistingApp, mapLoadedPackages } from './build/unbundled-maps.mjs';
import { TABLE_FILE } from './src/shared/location-format.mjs';

const serverEntry = 'src/server/main.ts';
const publicFolder = 'src/client/public';
const clientFolder = 'dist/client';

/**
 * Builds `dist` from `src`: first all bundles in memory, then the manifest, then the files. If bundling fails, it throws an
 * error with a readable message and leaves the previous build unchanged.
 *
 * @param {{ root?: string, log?: (line: string) => void, onRunnable?: () => void }} [options] `onRunnable`
 *   is called when a server can start, although maps and compressed files are not written yet
 */
export async function build({ root = import.meta.dirname, log = console.log, onRunnable = () => {} } = {}) {
  const started = performance.now();
  const stamp = toStamp(root);
  const times = toTimeStamp(root);
  const desk = findDesk(root);
  const owner = await readOwnersBuild(root);
  const styles = createStyles(root, {
    minify: true,
    target: browserTarget,
    outdir: join(root, clientFolder),
    plugins: owner.plugins,
  });

  const options = { root, dev: false, owner, styles };
  const serverSide = { ...options, outdir: 'dist/server', warn: log };
  const [client, otherClients, server, parts, launcher, publicFiles, release, commits] = await Promise.all([
    buildClientApp(productApp, { ...options, outdir: clientFolder }),
    Promise.all(
      desk.apps.map((app) => reuse(app.name, options, () => buildClientApp(app, { ...options, outdir: clientFolder }))),
    ),
    bundleServer({ ...serverSide, entryPoints: { site: serverEntry } }),
    reuse('parts', options, () => bundleServer({ ...serverSide, entryPoints: listServerParts(root) })),
    readFile(join(import.meta.dirname, 'bin/require-node.mjs'), 'utf8'),
    readFiles(join(root, publicFolder)),
    nameRelease(root, listSources(root), listLinkedPackages(root)),
    readCommits(root),
  ]).catch(throwReadable);

  const bundles = [client, ...otherClients, server, parts];
  for (const warning of await formatWarnings(bundles.flatMap(({ warnings }) => warnings))) log(warning);
  for (const warning of warnOfSources(root, client, server)) log(warning);
  const commandMaps = desk.commands.map((command) => `${command}.js.map`);
  // Failures of commands are not incidents.
  const outputs = bundles
    .flatMap(({ outputFiles }) => outputFiles)
    .filter(({ path }) => !commandMaps.includes(basename(path)));
  const dist = join(root, 'dist');
  const { files, debugIds } = addDebugIds(placeOutputs(dist, nameSources(root, outputs)));
  const served = [...files.filter(isServed), ...publicFiles.map((file) => ({ ...file, path: `client/${file.path}` }))];
  const manifest = {
    buildId: toBuildId(served, stamp),
    release,
    debugIds,
    ...client.assets,
    apps: Object.fromEntries(desk.apps.map(({ name }, index) => [name, otherClients[index].assets])),
  };

  const packages = { loaded: listLoaded(bundles.map(({ metafile }) => metafile)) };
  const runnable = [
    ...files.filter((file) => !isServed(file) && !isMap(file)),
    ...desk.commands.map((command) => ({
      path: `${command}.mjs`,
      contents: `${launcher}\nif (hasRequiredNode()) import('./server/${command}.js');\n`,
    })),
    ...served,
    { path: 'server/main.js', contents: firstListening },
    { path: 'manifest.json', contents: `${JSON.stringify(manifest, null, 2)}\n` },
    { path: 'commits.json', contents: JSON.stringify(commits) },
    { path: 'packages.json', contents: `${JSON.stringify(packages, null, 2)}\n` },
  ];
  const unbundled = [...mapExistingApp(root), ...mapLoadedPackages(root, packages.loaded)];
  const maps = [...files.filter(isMap), ...unbundled];
  // In other threads, while this one makes the table of locations.
  const compressing = Promise.all([precompress(served), packMaps(maps)]);
  const sources = await openSourceIndex(owner);
  // A failure needs the table at once, so a server would block if it had to wait for it.
  const sites = createLocations(root, maps, { ...owner, index: sources.index });
  await beginBuild(dist, [...runnable, { path: TABLE_FILE, contents: sites }]);
  onRunnable();

  const [[compressed, packedMaps]] = await Promise.all([compressing, sources.save()]);
  const rest = [...maps, ...packedMaps, ...compressed];
  const others = listOthers({ ...client.metafile.inputs, ...server.metafile.inputs });
  await finishBuild(dist, rest, toFullStamp(root, { stamp, times, others }));
  log(`Built ${manifest.buildId} in ${Math.round(performance.now() - started)} ms.`);
  for (const line of describeScripts(client.assets, client.metafile, clientFolder, compressed)) log(line);
}

/**
 * The file that starts a server. Process 1 of a container receives only signals that it listens to, and loading the server
 * takes some tenths of a second.
 */
const firstListening = `for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'])
  process.on(signal, () => process.listenerCount(signal) === 1 && process.exit(0));
await import('./site.js');
`;

const isMap = ({ path }) => path.endsWith('.map');

/** Stops esbuild's process, which otherwise waits for the next build. */
export const stopBuilder = () => esbuild.stop();

// `main` needs Node 24.2.
if (hasRequiredNode() && (import.meta.main ?? process.argv[1] === import.meta.filename)) {
  // Where a server waits for it, there is a channel. If the server ends before it can start, this process ends too.
  const end = () => process.exit(1);
  if (process.connected === false) end();
  process.on('disconnect', end);
  process.channel?.unref();
  const onRunnable = () => {
    process.off('disconnect', end);
    process.send?.('runnable');
  };
  await build({ onRunnable }).catch((error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
  await stopBuilder();
}
