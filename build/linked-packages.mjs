import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { findFolderInWorkspace, readJson, toRelative } from './files.mjs';

/** What is not a package's own code: its packages, and folders of tools. */
const OTHERS = /(?:^|[\\/])(?:node_modules|\.[^\\/]*)(?:[\\/]|$)/;

/**
 * Lists the folders of packages that are linked into the project, such as those of a workspace, and of what these link.
 * Their files change like those of the project, although the lockfile stays the same.
 *
 * @param {string} root
 * @returns {string[]} absolute paths
 */
export function listLinkedPackages(root) {
  const found = new Set();
  const queue = [root];
  for (const folder of queue) {
    const file = join(folder, 'package.json');
    if (!existsSync(file)) continue;
    const { dependencies = {} } = readJson(file);
    const places = createRequire(file).resolve.paths('a');
    for (const name of Object.keys(dependencies)) {
      const path = places.map((place) => join(place, name)).find(existsSync);
      const linked = path && realpathSync(path);
      if (!linked || /[\\/]node_modules[\\/]/.test(linked) || linked === root || found.has(linked)) continue;
      found.add(linked);
      queue.push(linked);
    }
  }
  return [...found].sort();
}

/** @param {string} root @returns {string[]} the files of these packages, relative to the root */
export function listLinkedFiles(root) {
  return listLinkedPackages(root).flatMap((folder) => listOwn(folder).map((path) => toRelative(root, path)));
}

/** @param {string} root @returns {string[]} their folders in the workspace, such as `packages/ui/` */
export function listPackageFolders(root) {
  const workspace = root.slice(0, root.length - findFolderInWorkspace(root).length);
  return listLinkedPackages(root).map((folder) => `${toRelative(workspace, folder)}/`);
}

function listOwn(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (OTHERS.test(entry.name)) return [];
    if (entry.isDirectory()) return listOwn(path);
    return entry.isFile() ? [path] : [];
  });
}
