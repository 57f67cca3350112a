import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import zlib from 'node:zlib';

/** Below this, headers are most of the answer. */
const minBytes = 200;

const encodings = {
  '.br': (bytes) =>
    promisify(zlib.brotliCompress)(bytes, {
      params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 11, [zlib.constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    }),
  '.gz': (bytes) => promisify(zlib.gzip)(bytes, { level: 9 }),
  // Told the length, zstd takes a window of that size; by default it fills 8 MB and more for each file.
  '.zst': (bytes) =>
    promisify(zlib.zstdCompress)(bytes, {
      pledgedSrcSize: bytes.length,
      params: { [zlib.constants.ZSTD_c_compressionLevel]: 19 },
    }),
};

/** What earlier builds have compressed, by content: most files are those of the build before. */
const cache = fileURLToPath(new URL('../node_modules/.cache/spillway/compressed/', import.meta.url));
/** After which a file of the cache is made anew, so that it does not grow for ever (ms). */
const maxAge = 7 * 24 * 3_600_000;

async function encodeOnce(extension, contents) {
  const encode = encodings[extension];
  // Another Node, or other settings, may compress better.
  const name = createHash('sha256').update(process.version).update(String(encode)).update(contents).digest('hex');
  const file = join(cache, name + extension);
  const known = await readFile(file).catch(() => undefined);
  if (known) return known;
  const encoded = await encode(contents);
  // Renamed, because another build may read it. Where nothing can be written, each build compresses all files.
  const made = `${file}.${randomUUID()}`;
  await writeFile(made, encoded)
    .then(() => rename(made, file))
    .catch(() => undefined);
  return encoded;
}

async function openCache() {
  await mkdir(cache, { recursive: true }).catch(() => undefined);
  const files = (await readdir(cache).catch(() => [])).map((name) => join(cache, name));
  for (const file of files) {
    const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Infinity }));
    if (mtimeMs < Date.now() - maxAge) await rm(file, { force: true }).catch(() => undefined);
  }
}

/**
 * All encodings of all files at once, on Node's thread pool; an encoding that saves nothing is left out.
 *
 * @param {{ path: string, contents: Uint8Array }[]} files
 * @returns {Promise<{ path: string, contents: Uint8Array }[]>}
 */
export async function precompress(files) {
  await openCache();
  // The largest first: a large one that starts last would hold up the end alone.
  const worthwhile = files
    .filter(({ contents }) => contents.length >= minBytes)
    .sort((a, b) => b.contents.length - a.contents.length);
  const encoded = worthwhile.flatMap(({ path, contents }) =>
    Object.keys(encodings).map(async (extension) => ({
      path: path + extension,
      contents: await encodeOnce(extension, contents),
      plainLength: contents.length,
    })),
  );
  return (await Promise.all(encoded)).filter(({ contents, plainLength }) => contents.length < plainLength);
}

/**
 * What the desk's store keeps of each build, in the store's own encoding: compressed here, they cost the first
 * start of a build a tenth of the time.
 *
 * @param {{ path: string, contents: Uint8Array }[]} files
 * @returns {Promise<{ path: string, contents: Uint8Array }[]>}
 */
export async function packMaps(files) {
  return Promise.all(
    files.map(async ({ path, contents }) => ({
      path: `${path}.zst`,
      contents: await promisify(zlib.zstdCompress)(contents),
    })),
  );
}
