import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listExistingApp } from './existing-app.mjs';
import { listFiles } from './files.mjs';
import { readRelease } from './release.mjs';

/** What decides the build besides `src`; the lockfile stands for the installed packages. */
const inputFiles = ['build.mjs', 'moves.json', 'bin/require-node.mjs', 'package.json', 'package-lock.json'];
const inputFolders = ['build', 'src'];

/** What has a command of its own, for where there is no npm. */
export const commands = ['desk', 'doctor'];

/**
 * What `node dist/desk.mjs` needs: the door, which an older Node can run too, and the command behind it.
 *
 * @param {string} command
 */
export function toCommandFiles(command) {
  return [`dist/${command}.mjs`, `dist/server/${command}.js`];
}

/** Without these there is nothing to serve, whatever the stamp says. */
const outputFiles = [
  'dist/server/main.js',
  'dist/server/desk-worker.js',
  'dist/server/sentry.js',
  ...commands.flatMap(toCommandFiles),
  'dist/manifest.json',
];

/**
 * Names the kind of a build, its release and its inputs. Contents are hashed, not times: a checkout, a copy and an image layer
 * change the times of files that are the same, and reading a few hundred files takes 10 ms.
 *
 * @param {string} root
 * @param {{ dev: boolean }} mode
 */
export function toStamp(root, { dev }) {
  const kind = dev ? 'development' : `production ${readRelease(root)}`;
  return `${kind} ${hashFiles(root, [...listInputs(root), ...listExistingApp(root)])}`;
}

/** Names what decides the bundles that hold nothing of the product. */
export function toEngineStamp(root) {
  return hashFiles(
    root,
    listInputs(root).filter((path) => !/^src\/\w+\/product\//.test(path)),
  );
}

function listInputs(root) {
  const inFolders = inputFolders.flatMap((folder) => listFiles(join(root, folder)).map((path) => `${folder}/${path}`));
  return [...inputFiles, ...inFolders];
}

function hashFiles(root, paths) {
  const hash = createHash('sha256').update(process.env.SPILLWAY_JOIN ?? '');
  for (const path of paths) {
    const file = join(root, path);
    if (!existsSync(file)) continue;
    const contents = readFileSync(file);
    hash.update(`${path}\0${contents.length}\0`).update(contents);
  }
  return hash.digest('hex');
}

/**
 * @param {string} root
 * @param {{ dev: boolean }} mode
 */
export function hasCurrentBuild(root, mode) {
  const stamp = join(root, 'dist/.stamp');
  if (![stamp, ...outputFiles.map((path) => join(root, path))].every(existsSync)) return false;
  return readFileSync(stamp, 'utf8') === toStamp(root, mode);
}
