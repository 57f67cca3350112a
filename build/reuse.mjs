import { createHash } from 'node:crypto';
import { relative, resolve } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { createCache } from './cache.mjs';
import { toEngineStamp } from './stamp.mjs';

/** Each file has a few megabytes. */
const cache = createCache('bundles', { maxFiles: 12 });

/**
 * Reuses a bundle of an earlier build. A bundle without product code stays the same until a file outside of the product
 * changes.
 *
 * @template {{ metafile?: import('esbuild').Metafile, outputFiles: { path: string, contents: Uint8Array }[] }} Bundle
 * @param {string} name
 * @param {{ root: string, dev: boolean, owner: import('./owner.mjs').OwnersBuild }} options
 * @param {() => Promise<Bundle>} bundle
 * @returns {Promise<Bundle>}
 */
export async function reuse(name, { root, dev, owner }, bundle) {
  // The product's plugins and aliases can change any bundle in ways that the input files do not show.
  if (dev || owner.plugins.length > 0 || Object.keys(owner.alias).length > 0) return bundle();
  const key = createHash('sha256').update(`${name}\0${process.version}\0`).update(toEngineStamp(root)).digest('hex');
  const known = toBundle(await cache.read(key));
  if (known)
    return {
      ...known,
      outputFiles: known.outputFiles.map((output) => ({ ...output, path: resolve(root, output.path) })),
    };
  const made = await bundle();
  if (!holdsProduct(made)) {
    await cache.write(key, serialize(withRelativePaths(root, made)));
    await cache.prune();
  }
  return made;
}

function holdsProduct({ metafile }) {
  return Object.keys(metafile.inputs).some((path) => /^src\/\w+\/product\//.test(path));
}

function withRelativePaths(root, { outputFiles, ...rest }) {
  const toPlain = ({ path, contents }) => ({ path: relative(root, path), contents });
  return { ...rest, outputFiles: outputFiles.map(toPlain) };
}

/** A bundle from another Node version is not always readable. */
function toBundle(contents) {
  try {
    return contents && deserialize(contents);
  } catch {
    return undefined;
  }
}
