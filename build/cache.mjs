import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { deserialize, serialize } from 'node:v8';
import zlib from 'node:zlib';

// Not on import: an older Node, which starts the pinned one, does not have them.
const compress = (bytes) => promisify(zlib.zstdCompress)(bytes);
const decompress = (bytes) => promisify(zlib.zstdDecompress)(bytes);
const caches = `${import.meta.dirname}/../node_modules/.cache/spillway`;

/**
 * Caches results of earlier builds, compressed. If the folder is not writable, each build starts from scratch.
 *
 * @param {string} name of the folder
 * @param {{ maxBytes: number }} options beyond that, the least recently used files are removed at the first write
 */
export function createCache(name, { maxBytes }) {
  const folder = join(caches, name);
  let pruning;
  return {
    /** @param {string} key a file name @returns {Promise<any>} undefined if it is unknown, or from another Node version */
    async read(key) {
      const file = join(folder, key);
      try {
        const value = deserialize(await decompress(await readFile(file)));
        await utimes(file, new Date(), new Date()).catch(() => undefined);
        return value;
      } catch {
        return undefined;
      }
    },

    /** @param {string} key a file name @param {unknown} value */
    async write(key, value) {
      // Renames the finished file, because another build can read it at the same time.
      const made = join(folder, `${key}.${randomUUID()}`);
      try {
        await mkdir(folder, { recursive: true });
        await writeFile(made, await compress(serialize(value)));
        await rename(made, join(folder, key));
        pruning ??= prune();
        await pruning;
      } catch {
        await rm(made, { force: true }).catch(() => undefined);
      }
    },
  };

  async function prune() {
    const paths = (await readdir(folder)).map((key) => join(folder, key));
    // A file that is being written has another name a moment later.
    const gone = { mtimeMs: 0, size: 0 };
    const files = await Promise.all(paths.map(async (path) => ({ path, ...(await stat(path).catch(() => gone)) })));
    let bytes = 0;
    for (const { path, size } of files.sort((one, other) => other.mtimeMs - one.mtimeMs)) {
      bytes += size;
      if (bytes > maxBytes) await rm(path, { force: true });
    }
  }
}
