import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

/**
 * @param {string} folder
 * @param {(path: string) => boolean} [isLeftOut] of a file or folder
 * @returns {string[]} sorted paths of all files in the folder and below, relative to it, with forward slashes; empty if
 *   the folder does not exist
 */
export function listFiles(folder, isLeftOut = () => false) {
  const found = [];
  function add(prefix) {
    for (const entry of readdirSync(`${folder}/${prefix}`, { withFileTypes: true })) {
      const path = prefix + entry.name;
      if (isLeftOut(path)) continue;
      if (entry.isDirectory()) add(`${path}/`);
      else if (entry.isFile()) found.push(path);
    }
  }
  if (existsSync(folder)) add('');
  return found.sort();
}

/** Returns a path relative to a folder, with forward slashes. */
export function toRelative(folder, path) {
  return relative(folder, path).replaceAll('\\', '/');
}

/**
 * @param {string} folder
 * @returns {Promise<{ path: string, contents: Uint8Array }[]>} paths relative to `folder`
 */
export function readFiles(folder) {
  return Promise.all(listFiles(folder).map(async (path) => ({ path, contents: await readFile(join(folder, path)) })));
}

/** @param {string} path */
export function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** Finds the file that represents the installed packages. In a workspace it is in a folder above. */
export function findLockfile(root) {
  const names = ['package-lock.json', 'pnpm-lock.yaml', 'yarn.lock', 'bun.lock'];
  const folders = Array.from({ length: 4 }, (_, level) => '../'.repeat(level));
  const paths = folders.flatMap((folder) => names.map((name) => folder + name));
  return paths.filter((path) => existsSync(join(root, path))).slice(0, 1);
}

/** Returns the folder of the workspace that a project is in, or else of the project. */
export function findWorkspace(root) {
  const [file = 'package.json'] = findLockfile(root);
  return dirname(join(root, file));
}

/** Returns the project's folder in its workspace, such as `apps/web/`. Empty outside of a workspace. */
export function findFolderInWorkspace(root) {
  const folder = toRelative(findWorkspace(root), root);
  return folder && `${folder}/`;
}
