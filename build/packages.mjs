import { existsSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { join, relative } from 'node:path';
import { readJson } from './files.mjs';

/**
 * What of `node_modules` a build consists of, for images and their bills of materials: the packages
 * that stand in its bundles, by their folder, and those that it loads when it runs, by their name.
 * The latter may be missing where they are asked for on trial, as `pg-native` is.
 *
 * @param {readonly import('esbuild').Metafile[]} metafiles
 * @returns {{ bundled: string[], loaded: string[] }} sorted
 */
export function listPackages(metafiles) {
  const inputs = metafiles.flatMap(({ outputs }) =>
    Object.values(outputs).flatMap((output) => Object.keys(output.inputs)),
  );
  const imports = metafiles.flatMap(({ outputs }) => Object.values(outputs).flatMap((output) => output.imports));
  const loaded = imports.filter(({ external, path }) => external && isPackage(path)).map(({ path }) => toPackage(path));
  return { bundled: toSorted(inputs.flatMap((path) => toFolder(path) ?? [])), loaded: toSorted(loaded) };
}

/**
 * The folders of packages and of all that they depend on, as Node would find them. What is not
 * installed was optional: the build would have failed for anything else.
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

function findPackage(name, from) {
  const folders = createRequire(join(from, 'package.json')).resolve.paths(name) ?? [];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(join(path, 'package.json')));
}

function isPackage(path) {
  return !isBuiltin(path) && !/^(?:\.{0,2}\/|\w+:)/.test(path);
}

/** `@scope/name/file` is a file of `@scope/name`. */
function toPackage(path) {
  return path
    .split('/')
    .slice(0, path.startsWith('@') ? 2 : 1)
    .join('/');
}

/** `node_modules/a/node_modules/b`, as the lockfile names it; undefined for files of our own. */
function toFolder(path) {
  return /\bnode_modules\/(?:@[^/]+\/)?[^/]+(?:\/node_modules\/(?:@[^/]+\/)?[^/]+)*/.exec(path)?.[0];
}

function toSorted(names) {
  return [...new Set(names)].sort();
}
