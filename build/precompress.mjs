import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { createCache } from './cache.mjs';

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

/** What earlier builds have compressed, by content. A build has a few hundred files, most of them as before. */
const cache = createCache('compressed', { maxFiles: 5000 });

async function encodeOnce(extension, contents) {
  const encode = encodings[extension];
  // Another Node, or other settings, may compress better.
  const name = createHash('sha256').update(process.version).update(String(encode)).update(contents).digest('hex');
  const known = await cache.read(name + extension);
  if (known) return known;
  const encoded = await encode(contents);
  await cache.write(name + extension, encoded);
  return encoded;
}

/**
 * All encodings of all files at once, on Node's thread pool; an encoding that saves nothing is left out.
 *
 * @param {{ path: string, contents: Uint8Array }[]} files
 * @returns {Promise<{ path: string, contents: Uint8Array }[]>}
 */
export async function precompress(files) {
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
  const made = await Promise.all(encoded);
  await cache.prune();
  return made.filter(({ contents, plainLength }) => contents.length < plainLength);
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
