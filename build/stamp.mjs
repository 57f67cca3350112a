import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isInProduct } from '../src/shared/whose-code.mjs';
import { findExistingApp, listExistingApp } from './existing-app.mjs';
import { findLockfile, listFiles } from './files.mjs';
import { listLinkedFiles } from './linked-packages.mjs';
import { readRelease } from './release.mjs';

/** Inputs of the build besides `src` and the lockfile. */
const inputFiles = ['build.mjs', 'moves.json', 'bin/require-node.mjs', 'package.json'];
const inputFolders = ['build', 'src', 'patches']; // of installed packages, which the lockfile does not show

/**
 * Returns the release of a build and a hash of its inputs. The hash uses the contents of files, not their times:
 * checkouts, copies and image layers change the times of unchanged files.
 *
 * @param {string} root
 */
export function toStamp(root) {
  return `${readRelease(root)} ${hashFiles(root, [...listInputs(root), ...listExistingApp(root)])}`;
}

/** Returns a hash of the inputs of the bundles without product code. */
export function toEngineStamp(root) {
  return hashFiles(
    root,
    listInputs(root).filter((path) => !isInProduct(path)),
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

function hashFiles(root, paths) {
  const lines = paths.map((path) => {
    const file = join(root, path);
    return `${path}\0${existsSync(file) ? hash('sha256', readFileSync(file)) : ''}\n`;
  });
  return hash('sha256', lines.join('') + process.env.SPILLWAY_JOIN);
}

/** Lists what a build read outside of `src` and of packages. @param {Record<string, unknown>} inputs of a metafile */
export function listOthers(inputs) {
  return Object.keys(inputs).filter((path) => !/^src\/|\bnode_modules\/|:/.test(path));
}

/**
 * Adds these files to a stamp. They are known only after the build.
 *
 * @param {string} root
 * @param {string} stamp
 * @param {string[]} others
 */
export function toFullStamp(root, stamp, others) {
  return [`${stamp} ${hashFiles(root, others)}`, ...others].join('\n');
}

/** Compares the stamp, which only a finished build has. @param {string} root */
export function hasCurrentBuild(root) {
  const file = join(root, 'dist/.stamp');
  if (!existsSync(file)) return false;
  const full = readFileSync(file, 'utf8');
  const [, ...others] = full.split('\n');
  return full === toFullStamp(root, toStamp(root), others);
}
