import { isBuiltin } from 'node:module';

/**
 * The packages that a bundle loads from `node_modules` when it runs: an image must hold them. Those
 * that are asked for and may be missing, such as `pg-native`, are among them.
 *
 * @param {import('esbuild').Metafile} metafile
 * @returns {string[]} names, sorted
 */
export function listExternals(metafile) {
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports);
  const names = imports.filter(({ external, path }) => external && isPackage(path)).map(({ path }) => toPackage(path));
  return [...new Set(names)].sort();
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
