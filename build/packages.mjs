import { isBuiltin } from 'node:module';

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
