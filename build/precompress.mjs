import { createHash } from 'node:crypto';
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

/** What this process has compressed. A process that builds several times, as tests do, sees most files again. */
const known = new Map();

function encodeOnce(extension, contents) {
  const key = extension + createHash('sha256').update(contents).digest('hex');
  if (!known.has(key)) known.set(key, encodings[extension](contents));
  return known.get(key);
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
  return (await Promise.all(encoded)).filter(({ contents, plainLength }) => contents.length < plainLength);
}
