import { existsSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { join, relative } from 'node:path';
import { readJson } from './files.mjs';

/**
 * Lists the packages that a build loads at run time. They can be missing if they are optional, like `pg-native`.
 *
 * @param {readonly import('esbuild').Metafile[]} metafiles
 * @returns {string[]} names, sorted
 */
export function listLoaded(metafiles) {
  const imports = metafiles.flatMap(({ outputs }) => Object.values(outputs).flatMap((output) => output.imports));
  const loaded = imports.filter(({ external, path }) => external && isPackage(path)).map(({ path }) => toPackage(path));
  return [...new Set(loaded)].sort();
}

/**
 * Returns the folders of packages and all their dependencies, as Node resolves them. Missing packages are optional:
 * without any other package, the build would have failed.
 *
 * @param {string} root
 * @param {readonly string[]} names
 * @returns {string[]} relative to the root
 */
export function listInstalled(root, names) {
  const found = new Set();
  const visit = (name, from) => {
    const path = findPackage(name, from);
    if (!path || found.has(path)) return;
    found.add(path);
    const { dependencies, optionalDependencies, peerDependencies } = readJson(join(path, 'package.json'));
    for (const next of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }))
      visit(next, path);
  };
  for (const name of names) visit(name, root);
  return [...found].map((path) => relative(root, path)).sort();
}

/**
 * Returns the folder of a package, as Node resolves it: in a workspace it can be above the project.
 *
 * @param {string} name
 * @param {string} from a folder
 * @returns {string | undefined}
 */
export function findPackage(name, from) {
  const folders = createRequire(join(from, 'package.json')).resolve.paths(name) ?? [];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(join(path, 'package.json')));
}

function isPackage(path) {
  return !isBuiltin(path) && !/^(?:\.{0,2}\/|\w+:)/.test(path);
}

/** Returns the package of an import: `@scope/name/file` is a file of `@scope/name`. */
function toPackage(path) {
  return path
    .split('/')
    .slice(0, path.startsWith('@') ? 2 : 1)
    .join('/');
}
