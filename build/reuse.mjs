import { hash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { isInProduct } from '../src/shared/whose-code.mjs';
import { createCache } from './cache.mjs';
import { findFolderInWorkspace } from './files.mjs';
import { toEngineStamp } from './stamp.mjs';

/** A version of the project has about 8 MB, with those of `npm run dev`. */
const cache = createCache('bundles', { maxBytes: 12 * 1024 * 1024 });

/**
 * Reuses a bundle of an earlier build. A bundle without product code stays the same until a file outside of the product
 * or an installed package changes.
 *
 * @template {{ metafile?: import('esbuild').Metafile, outputFiles: { path: string, contents: Uint8Array }[] }} Bundle
 * @param {string} name
 * @param {{ root: string, dev: boolean, owner: import('./owner.mjs').OwnersBuild, entries?: unknown }} options
 *   `entries` are the entry points, if the product decides on them
 * @param {() => Promise<Bundle>} bundle
 * @returns {Promise<Bundle>}
 */
export async function reuse(name, { root, dev, owner, entries = [] }, bundle) {
  // The product's plugins and aliases can change any bundle in ways that the input files do not show.
  if (owner.plugins.length > 0 || Object.keys(owner.alias).length > 0) return bundle();
  const facts = [name, dev, entries, owner.external, findFolderInWorkspace(root), process.version, toEngineStamp(root)];
  const key = hash('sha256', JSON.stringify(facts));
  const known = await cache.read(key);
  if (known && known.packages === toPackageTimes(root, known.bundle)) {
    const toAbsolute = (output) => ({ ...output, path: resolve(root, output.path) });
    return { ...known.bundle, outputFiles: known.bundle.outputFiles.map(toAbsolute) };
  }
  const made = await bundle();
  if (!holdsProduct(made)) {
    const packages = toPackageTimes(root, made);
    const writing = cache.write(key, { bundle: withRelativePaths(root, made), packages });
    // `npm run dev` does not end before it is written.
    if (!dev) await writing;
  }
  return made;
}

/** Not all changes of packages are in the lockfile: people patch and link them. */
function toPackageTimes(root, { metafile }) {
  const files = Object.keys(metafile.inputs).filter((path) => !path.startsWith('src/') && !path.includes(':'));
  const times = files.map((path) => {
    const found = statSync(join(root, path), { throwIfNoEntry: false });
    return `${path} ${found?.mtimeMs} ${found?.size}\n`;
  });
  return hash('sha256', times.join(''));
}

function holdsProduct({ metafile }) {
  return Object.keys(metafile.inputs).some(isInProduct);
}

function withRelativePaths(root, { outputFiles, ...rest }) {
  const toPlain = ({ path, contents }) => ({ path: relative(root, path), contents });
  return { ...rest, outputFiles: outputFiles.map(toPlain) };
}
