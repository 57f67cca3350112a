import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const caches = fileURLToPath(new URL('../node_modules/.cache/spillway/', import.meta.url));

/**
 * Caches results of earlier builds. If the folder is not writable, each build starts from scratch.
 *
 * @param {string} name of the folder
 * @param {{ maxFiles: number }} options the least recently used files are removed
 */
export function createCache(name, { maxFiles }) {
  const folder = join(caches, name);
  return {
    /** @param {string} key a file name @returns {Promise<Buffer | undefined>} */
    async read(key) {
      const file = join(folder, key);
      const contents = await readFile(file).catch(() => undefined);
      if (contents) await utimes(file, new Date(), new Date()).catch(() => undefined);
      return contents;
    },

    /** @param {string} key a file name @param {Uint8Array} contents */
    async write(key, contents) {
      // Renames the finished file, because another build can read it at the same time.
      const made = join(folder, `${key}.${randomUUID()}`);
      try {
        await mkdir(folder, { recursive: true });
        await writeFile(made, contents);
        await rename(made, join(folder, key));
      } catch {
        await rm(made, { force: true }).catch(() => undefined);
      }
    },

    async prune() {
      const paths = (await readdir(folder).catch(() => [])).map((key) => join(folder, key));
      if (paths.length <= maxFiles) return;
      const files = await Promise.all(
        paths.map(async (path) => ({ path, at: (await stat(path).catch(() => undefined))?.mtimeMs ?? 0 })),
      );
      const old = files.sort((one, other) => other.at - one.at).slice(maxFiles);
      await Promise.all(old.map(({ path }) => rm(path, { force: true }).catch(() => undefined)));
    },
  };
}
