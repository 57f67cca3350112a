import { statSync } from 'node:fs';
import { mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { findFolderInWorkspace, findWorkspace, listFiles, toRelative } from './files.mjs';

/** How long the assets of a build are kept after the next one (ms), for pages that were opened before that. */
const keepAssetsMs = 24 * 60 * 60 * 1000;

/** No build needs longer to write its assets and its manifest (ms). */
const writingMs = 60_000;

/** Begins the name of a file that is being written. It is in `dist` itself, where nothing looks for files. */
const partStart = '.part-';

/**
 * Writes the files that a server needs to start. It begins only after everything is bundled, so that a failed build leaves
 * the previous one intact. The stamp is deleted first and written last, so an interrupted build has none. Old files are
 * replaced, and deleted last, because a server that another build has started can be reading them. Until the build is complete, `.unfinished` has the id of this process, and servers wait for the other files when they need them.
 *
 * @param {string} dist
 * @param {{ path: string, contents: Uint8Array | string }[]} files paths within `dist`
 */
export async function beginBuild(dist, files) {
  await rm(join(dist, '.stamp'), { force: true });
  const builtAt = statSync(join(dist, 'manifest.json'), { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY;
  const all = [{ path: '.unfinished', contents: String(process.pid) }, ...files];
  await writeAll(dist, all);
  const written = new Set(all.map(({ path }) => path));
  await clean(
    dist,
    listFiles(dist).filter((path) => !written.has(path)),
    builtAt,
  );
}

/** Writes the other files of a build, and its stamp. */
export async function finishBuild(dist, files, stamp) {
  await writeAll(dist, files);
  await rm(join(dist, '.unfinished'), { force: true });
  await writeFile(join(dist, '.stamp'), stamp);
}

async function writeAll(dist, files) {
  const folders = new Set(files.map(({ path }) => dirname(join(dist, path))));
  await Promise.all([...folders].map((folder) => mkdir(folder, { recursive: true })));
  const write = async ({ path, contents }, index) => {
    const part = join(dist, `${partStart}${process.pid}-${index}`);
    await writeFile(part, contents);
    await rename(part, join(dist, path));
  };
  await Promise.all(files.map(write));
}

/** @param {number} builtAt when the build that is replaced now was written (ms since 1970) */
async function clean(dist, paths, builtAt) {
  const now = new Date();
  const cleanUp = async (path) => {
    const file = join(dist, path);
    const mtimeMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    const isAsset = dirname(path) === 'client/assets';
    const keptMs = isAsset ? keepAssetsMs : path.startsWith(partStart) ? writingMs : Number.NEGATIVE_INFINITY;
    // That build can be old, and visitors can have its pages open.
    if (isAsset && mtimeMs > builtAt - writingMs) await utimes(file, now, now);
    else if (now.getTime() - mtimeMs > keptMs) await rm(file, { force: true });
  };
  await Promise.all(paths.map(cleanUp));
}

/**
 * Names the sources in other folders of the workspace as if they were in the project: `packages/ui/src/card.tsx`. The
 * server names their frames in the same way, so a failure in a linked package has its line, and its digest, everywhere.
 *
 * @param {string} root
 * @param {{ path: string, contents: Uint8Array }[]} outputs with absolute paths
 * @returns {{ path: string, contents: Uint8Array }[]}
 */
export function nameSources(root, outputs) {
  const own = findFolderInWorkspace(root);
  if (own === '') return outputs;
  const workspace = findWorkspace(root);
  return outputs.map((file) => {
    if (!file.path.endsWith('.map')) return file;
    const folder = dirname(file.path);
    const rename = (source) => {
      const path = /^[\w-]{2,}:/.test(source) ? '../' : toRelative(workspace, resolve(folder, source));
      const isOther = !/^\.\.\/|(?:^|\/)node_modules\//.test(path) && !path.startsWith(own);
      return isOther ? toRelative(folder, join(root, path)) : source;
    };
    // esbuild writes them on one line. Parsing all of the map would take longer.
    const text = Buffer.from(file.contents).toString();
    const named = text.replace(/(?<="sources": )\[.*\](?=,\n)/, (list) => JSON.stringify(JSON.parse(list).map(rename)));
    return { path: file.path, contents: Buffer.from(named) };
  });
}

/**
 * Places outputs in `dist`: in `client` what browsers can request, source maps in `maps`. Assets that only server code
 * refers to are served too.
 *
 * @param {string} dist
 * @param {{ path: string, contents: Uint8Array }[]} outputs of all bundles, with absolute paths
 * @param {{ serveMaps?: boolean }} [options] for `npm run dev`
 */
export function placeOutputs(dist, outputs, { serveMaps = false } = {}) {
  // Identical chunks of two apps have the same name and occur twice.
  const files = new Map();
  for (const { path: file, contents } of outputs) {
    const path = toRelative(dist, file).replace(/^server(?=\/assets\/)/, 'client');
    const isHidden = path.endsWith('.map') && !(serveMaps && isServed({ path }));
    files.set(isHidden ? `maps/${path}` : path, contents);
  }
  return [...files].map(([path, contents]) => ({ path, contents }));
}

/** Whether browsers can request a file of `dist`. */
export const isServed = ({ path }) => path.startsWith('client/');
