import { existsSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { findWorkspace, listFiles, readJson, toRelative } from './files.mjs';
import { findPackage, isInstalled } from './packages.mjs';

/**
 * Lists the folders of packages that are linked into the project, such as those of a workspace, and of what these link.
 * Their files change like those of the project, although the lockfile stays the same.
 *
 * @param {string} root
 * @returns {string[]} absolute paths
 */
export function listLinkedPackages(root) {
  const found = new Set([root]);
  for (const folder of found) {
    const file = join(folder, 'package.json');
    const { dependencies = {} } = existsSync(file) ? readJson(file) : {};
    for (const name of Object.keys(dependencies)) {
      const path = findPackage(name, folder);
      const linked = path && realpathSync.native(path); // the other one looks at each folder of the path
      if (linked && !isInstalled(linked)) found.add(linked);
    }
  }
  found.delete(root);
  return [...found].sort();
}

/** @param {string} root @returns {string[]} the files of these packages, relative to the root */
export function listLinkedFiles(root) {
  return listLinkedPackages(root).flatMap((folder) =>
    listFiles(folder, isForeign).map((path) => toRelative(root, join(folder, path))),
  );
}

/** @param {string} root @returns {string[]} their folders in the workspace, such as `packages/ui/` */
export function listPackageFolders(root) {
  return listLinkedPackages(root).map((folder) => `${toRelative(findWorkspace(root), folder)}/`);
}

/** Returns true for packages of a package, and for folders of tools. */
export function isForeign(path) {
  const name = basename(path);
  return name === 'node_modules' || name.startsWith('.');
}
