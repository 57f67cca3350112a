import { existsSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { join } from 'node:path';
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

/** What packages with native code depend on. Those in Rust have the options of NAPI-RS in package.json instead. */
const NATIVE_HELPERS = ['bindings', 'nan', 'node-addon-api', 'node-gyp-build', 'prebuild-install'];

/**
 * Leaves packages with native code out of the server's bundle, because they look for it beside their own files. The
 * bundle is the project's, so it finds only the project's packages.
 *
 * @param {string} root
 * @returns {import('esbuild').Plugin}
 */
export function nativePackages(root) {
  const known = new Map();
  return {
    name: 'native-packages',
    setup({ onResolve }) {
      onResolve({ filter: /^(?:@[\w.-]+\/)?\w[\w./-]*$/ }, ({ path, resolveDir }) => {
        const name = toPackage(path);
        const key = `${name} ${resolveDir}`;
        if (!known.has(key)) known.set(key, isNative(name, resolveDir));
        if (!known.get(key)) return undefined;
        if (findPackage(name, root)) return { path, external: true };
        const text = `${name} has native code, so it is loaded at run time, and this project does not find it. Add it to the dependencies in its package.json.`;
        return { errors: [{ text }] };
      });
    },
  };
}

function isNative(name, from) {
  const folder = isBuiltin(name) ? undefined : findPackage(name, from);
  if (!folder) return false;
  const { dependencies = {}, napi } = readJson(join(folder, 'package.json'));
  return !!napi || existsSync(join(folder, 'binding.gyp')) || NATIVE_HELPERS.some((helper) => helper in dependencies);
}

function isPackage(path) {
  return !isBuiltin(path) && !/^(?:\.{0,2}\/|\w+:)/.test(path);
}

/** Returns the package of an import: `@scope/name/file` is a file of `@scope/name`. */
function toPackage(path) {
  return /^(?:@[^/]+\/)?[^/]*/.exec(path)?.[0] ?? '';
}

/** Returns the package of a file, undefined for a file of the project. */
export function findOwner(file) {
  return /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1];
}
