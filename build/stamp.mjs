import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isInProduct } from '../src/shared/whose-code.mjs';
import { findExistingApp, listExistingApp } from './existing-app.mjs';
import { findLockfile, listFiles } from './files.mjs';
import { listLinkedFiles } from './linked-packages.mjs';
import { readRelease } from './release.mjs';

/** Inputs of the build besides `src` and the lockfile. */
const inputFiles = ['build.mjs', 'moves.json', 'bin/require-node.mjs', 'package.json'];
const inputFolders = ['build', 'src', 'patches']; // of installed packages, which the lockfile does not show

/** Checkouts, copies and image layers change the times of unchanged files. */
const readContents = (file) => (existsSync(file) ? hash('sha256', readFileSync(file)) : '');
/** Each write changes this time, and nothing can set it. */
const readTime = (file) => statSync(file, { throwIfNoEntry: false })?.ctimeMs;

/**
 * Returns the release of a build and a hash of the contents of its inputs.
 *
 * @param {string} root
 */
export function toStamp(root, read = readContents) {
  return `${readRelease(root)} ${hashFiles(root, [...listInputs(root), ...listExistingApp(root)], read)}`;
}

/** Returns the same of their times. */
export const toTimeStamp = (root) => toStamp(root, readTime);

/** Returns a hash of the inputs of the bundles without product code. */
export function toEngineStamp(root) {
  return hashFiles(
    root,
    listInputs(root).filter((path) => !isInProduct(path)),
    readContents,
  );
}

function listInputs(root) {
  const inFolders = inputFolders.flatMap((folder) => listFiles(join(root, folder)).map((path) => `${folder}/${path}`));
  const tsconfigs = readdirSync(root).filter((name) => /^tsconfig.*\.json$/.test(name)); // esbuild reads them
  return [...inputFiles, ...tsconfigs, ...findLockfile(root), ...listLinkedFiles(root), ...inFolders];
}

/** Returns the inputs as files and folders. */
export function listSources(root) {
  const existing = [findExistingApp(root) ?? '.'].filter((folder) => folder !== '.');
  return [...inputFiles, ...inputFolders, 'tsconfig*.json', ...findLockfile(root), ...existing];
}

function hashFiles(root, paths, read) {
  const lines = paths.map((path) => `${path}\0${read(`${root}/${path}`)}\n`);
  return hash('sha256', lines.join('') + process.env.SPILLWAY_JOIN);
}

/** Lists what a build read outside of `src` and of packages. @param {Record<string, unknown>} inputs of a metafile */
export function listOthers(inputs) {
  return Object.keys(inputs).filter((path) => !/^src\/|\bnode_modules\/|:/.test(path));
}

/**
 * Adds these files to the stamps. They are known only after the build.
 *
 * @param {string} root
 * @param {{ stamp: string, times: string, others: string[] }} build
 */
export function toFullStamp(root, { stamp, times, others }) {
  const add = (line, read) => `${line} ${hashFiles(root, others, read)}`;
  return [add(stamp, readContents), add(times, readTime), ...others].join('\n');
}

/** Compares the stamps, which only a finished build has. @param {string} root */
export function hasCurrentBuild(root) {
  const file = join(root, 'dist/.stamp');
  if (!existsSync(file)) return false;
  const [stamp, times, ...others] = readFileSync(file, 'utf8').split('\n');
  const isSame = (line, read) => line === `${toStamp(root, read)} ${hashFiles(root, others, read)}`;
  // Reading all files would take as long as the start of Node.
  return isSame(times, readTime) || isSame(stamp, readContents);
}
