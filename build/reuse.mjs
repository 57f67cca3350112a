import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deserialize, serialize } from 'node:v8';
import { toEngineStamp } from './stamp.mjs';

const cache = fileURLToPath(new URL('../node_modules/.cache/spillway/bundles/', import.meta.url));
/** Each has a few megabytes. */
const keptBundles = 12;

/**
 * Bundles that hold nothing of the product are the same until something else changes: a build takes them from the one
 * before.
 *
 * @template {{ metafile?: import('esbuild').Metafile, outputFiles: { path: string, contents: Uint8Array }[] }} Bundle
 * @param {string} name
 * @param {{ root: string, dev: boolean, owner: import('./owner.mjs').OwnersBuild }} options
 * @param {() => Promise<Bundle>} bundle
 * @returns {Promise<Bundle>}
 */
export async function reuse(name, { root, dev, owner }, bundle) {
  // Plugins and aliases of the owner may change any bundle, in ways that no file tells.
  if (dev || owner.plugins.length > 0 || Object.keys(owner.alias).length > 0) return bundle();
  const key = createHash('sha256').update(`${name}\0${process.version}\0`).update(toEngineStamp(root)).digest('hex');
  const file = join(cache, key);
  const known = await read(file);
  if (known)
    return {
      ...known,
      outputFiles: known.outputFiles.map((output) => ({ ...output, path: resolve(root, output.path) })),
    };
  const made = await bundle();
  if (!holdsProduct(made)) await keep(file, withRelativePaths(root, made));
  return made;
}

function holdsProduct({ metafile }) {
  return Object.keys(metafile.inputs).some((path) => /^src\/\w+\/product\//.test(path));
}

function withRelativePaths(root, { outputFiles, ...rest }) {
  const toPlain = ({ path, contents }) => ({ path: relative(root, path), contents });
  return { ...rest, outputFiles: outputFiles.map(toPlain) };
}

async function read(file) {
  try {
    const known = deserialize(await readFile(file));
    await utimes(file, new Date(), new Date());
    return known;
  } catch {
    return undefined; // None, or one of another Node.
  }
}

/** Renamed, because another build may read it. Where nothing can be written, each build bundles all. */
async function keep(file, bundle) {
  const made = `${file}.${randomUUID()}`;
  try {
    await mkdir(cache, { recursive: true });
    await writeFile(made, serialize(bundle));
    await rename(made, file);
    const files = await Promise.all(
      (await readdir(cache)).map(async (name) => ({
        path: join(cache, name),
        at: (await stat(join(cache, name))).mtimeMs,
      })),
    );
    const old = files.sort((one, other) => other.at - one.at).slice(keptBundles);
    await Promise.all(old.map(({ path }) => rm(path, { force: true })));
  } catch {
    await rm(made, { force: true }).catch(() => undefined);
  }
}
