import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as destination from './destination.mjs';
import { listExistingApp } from './existing-app.mjs';
import { listFiles } from './files.mjs';
import { readRelease } from './release.mjs';

/** Inputs of the build besides `src`. The lockfile represents the installed packages. */
const inputFiles = ['build.mjs', 'moves.json', 'bin/require-node.mjs', 'package.json', 'package-lock.json'];
const inputFolders = ['build', 'src'];

/** Commands that also run without npm. */
export const commands = [...Object.keys(destination.commands), 'doctor'];

/**
 * Returns the files of `node dist/doctor.mjs`: a launcher that also runs in older Node versions, and the command.
 *
 * @param {string} command
 */
export function toCommandFiles(command) {
  return [`dist/${command}.mjs`, `dist/server/${command}.js`];
}

/** Files without which the server cannot start, whatever the stamp says. */
const outputFiles = [
  'dist/server/main.js',
  ...destination.requiredParts.map((name) => `dist/server/${name}.js`),
  'dist/server/sentry.js',
  ...commands.flatMap(toCommandFiles),
  'dist/manifest.json',
];

/**
 * Returns the kind of a build, its release and a hash of its inputs. The hash uses the contents of files, not their times:
 * checkouts, copies and image layers change the times of unchanged files, and reading a few hundred files takes 10 ms.
 *
 * @param {string} root
 * @param {{ dev: boolean }} mode
 */
export function toStamp(root, { dev }) {
  const kind = dev ? 'development' : `production ${readRelease(root)}`;
  return `${kind} ${hashFiles(root, [...listInputs(root), ...listExistingApp(root)])}`;
}

/** Returns a hash of the inputs of the bundles without product code. */
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
