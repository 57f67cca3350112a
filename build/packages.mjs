import { existsSync, realpathSync } from 'node:fs';
import { findPackageJSON, isBuiltin } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { listFiles, readJson } from './files.mjs';

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
 * Returns the folder of a package, as Node resolves it for `import`: in a workspace it can be above the project.
 *
 * @param {string} name
 * @param {string} from a folder
 * @returns {string | undefined}
 */
export function findPackage(name, from) {
  try {
    const file = findPackageJSON(name, pathToFileURL(join(from, 'package.json')));
    return file && existsSync(file) ? dirname(file) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Leaves packages with native code out of the server's bundle, because they look for it beside their own files. The
 * bundle is the project's, so it finds only the project's packages.
 *
 * @param {string} root
 * @returns {import('esbuild').Plugin}
 */
export function nativePackages(root) {
  const known = new Map();

  function staysOut(name, from) {
    const found = isBuiltin(name) ? undefined : findPackage(name, from);
    if (!found) return false;
    const folder = realpathSync(found);
    if (!known.has(folder)) {
      known.set(folder, false); // packages can need each other
      known.set(folder, isNative(folder) || (isInstalled(folder) && needsHidden(folder)));
    }
    return known.get(folder);
  }

  /** True if a native package is found from this package, but not from the bundle: pnpm links it only there. */
  function needsHidden(folder) {
    const { dependencies, optionalDependencies } = readJson(join(folder, 'package.json'));
    const names = Object.keys({ ...dependencies, ...optionalDependencies });
    return names.some((name) => !findPackage(name, root) && staysOut(name, folder));
  }

  return {
    name: 'native-packages',
    setup({ onResolve }) {
      onResolve({ filter: /^(?:@[\w.-]+\/)?\w[\w./-]*$/ }, ({ path, resolveDir }) => {
        const name = toPackage(path);
        if (!staysOut(name, resolveDir)) return undefined;
        if (findPackage(name, root)) return { path, external: true };
        const text = `${name} has native code, so it is loaded at run time, and this project does not find it. Add it to the dependencies in its package.json.`;
        return { errors: [{ text }] };
      });
    },
  };
}

/** True if a package has native code in its folder, or for each system in another package, like `sharp`. */
function isNative(folder) {
  if (hasNativeFile(folder)) return true;
  const { optionalDependencies = {} } = readJson(join(folder, 'package.json'));
  return isInstalled(folder) && Object.keys(optionalDependencies).some((name) => isForOneSystem(name, folder));
}

/** True for an addon, also if it was not compiled here: then the package says so, or works without it. */
function hasNativeFile(folder) {
  const files = listFiles(folder, (path) => basename(path) === 'node_modules');
  return files.some((path) => basename(path) === 'binding.gyp' || path.endsWith('.node'));
}

function isForOneSystem(name, from) {
  const folder = findPackage(name, from);
  if (!folder) return false;
  const { os, cpu } = readJson(join(folder, 'package.json'));
  return !!(os ?? cpu);
}

/** False for a package of the workspace. Only a bundle can run its TypeScript. */
export function isInstalled(folder) {
  return /[\\/]node_modules[\\/]/.test(folder);
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
