import { statSync } from 'node:fs';
import { mkdir, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { listFiles, toRelative } from './files.mjs';

/** How long the assets of a build are kept after the next one (ms), for pages that were opened before that. */
const keepAssetsMs = 24 * 60 * 60 * 1000;

/** No build needs longer to write its assets and its manifest (ms). */
const writingMs = 60_000;

/**
 * Writes the files that a server needs to start. It begins only after everything is bundled, so that a failed build leaves
 * the previous one intact. The stamp is deleted first and written last, so an interrupted build has none. Until the build
 * is complete, `.unfinished` has the id of this process, and servers wait for the other files when they need them.
 *
 * @param {string} dist
 * @param {{ path: string, contents: Uint8Array | string }[]} files paths within `dist`
 */
export async function beginBuild(dist, files) {
  await rm(join(dist, '.stamp'), { force: true });
  await clean(dist);
  await writeAll(dist, [{ path: '.unfinished', contents: String(process.pid) }, ...files]);
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
  await Promise.all(files.map(({ path, contents }) => writeFile(join(dist, path), contents)));
}

async function clean(dist) {
  const now = new Date();
  const builtAt = statSync(join(dist, 'manifest.json'), { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY;
  const cleanUp = async (path) => {
    const file = join(dist, path);
    const { mtimeMs } = statSync(file);
    const isAsset = dirname(path) === 'client/assets';
    // The build that is replaced now can be old, and visitors can have its pages open.
    if (isAsset && mtimeMs > builtAt - writingMs) await utimes(file, now, now);
    else if (!isAsset || now.getTime() - mtimeMs > keepAssetsMs) await rm(file, { force: true });
  };
  await Promise.all(listFiles(dist).map(cleanUp));
}

/**
 * Separates files that browsers can request from the others: source maps and the server's bundles. Assets that only
 * server code refers to are served too.
 *
 * @param {string} dist
 * @param {import('esbuild').OutputFile[]} outputs of all bundles
 * @param {{ serveMaps?: boolean }} [options] for `npm run dev`
 */
export function sortOutputs(dist, outputs, { serveMaps = false } = {}) {
  // Identical chunks of two apps have the same name and occur twice.
  const served = new Map();
  const unserved = new Map();
  for (const { path: file, contents } of outputs) {
    const path = toRelative(dist, file);
    if (path.endsWith('.map') && !(serveMaps && path.startsWith('client/'))) unserved.set(`maps/${path}`, contents);
    else if (/^(?:client|server\/assets)\//.test(path)) served.set(path.replace(/^server/, 'client'), contents);
    else unserved.set(path, contents);
  }
  return { served: toFiles(served), unserved: toFiles(unserved) };
}

function toFiles(contentsByPath) {
  return [...contentsByPath].map(([path, contents]) => ({ path, contents }));
}
