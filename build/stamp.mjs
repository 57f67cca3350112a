import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
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
  return `${readRelease(root)} ${hashFiles(root, listAllInputs(root))}`;
}

function listAllInputs(root) {
  return [...listInputs(root), ...listExistingApp(root)];
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
  return hashFacts(root, paths, (file) => (existsSync(file) ? hash('sha256', readFileSync(file)) : ''));
}

function hashFacts(root, paths, readFact) {
  const lines = paths.map((path) => `${path}\0${readFact(join(root, path))}\n`);
  return hash('sha256', lines.join('') + process.env.SPILLWAY_JOIN);
}

/** Compares the stamp, which only a finished build has. @param {string} root */
export function hasCurrentBuild(root) {
  const file = join(root, 'dist/.stamp');
  if (!existsSync(file)) return false;
  const stamp = readFileSync(file, 'utf8');
  // Before the files are read, so that a change in between is noticed at the next start.
  const state = `${readRelease(root)}\n${stamp}\n${toFileState(root)}`;
  const known = join(root, knownState);
  if (existsSync(known) && readFileSync(known, 'utf8') === state) return true;
  if (stamp !== toStamp(root)) return false;
  try {
    mkdirSync(dirname(known), { recursive: true });
    writeFileSync(known, state);
  } catch {
    // The next start reads all files again.
  }
  return true;
}

/** The state of the inputs when the build was last found to be current. */
const knownState = 'node_modules/.cache/spillway/inputs';

/**
 * Returns a hash that changes if a file is written, moved or replaced. Reading all files instead would take a start
 * 20 ms. `ctime`, because programs can set `mtime`.
 */
function toFileState(root) {
  return hashFacts(root, listAllInputs(root), (file) => {
    const found = statSync(file, { throwIfNoEntry: false });
    return `${found?.ino} ${found?.size} ${found?.ctimeMs}`;
  });
}
