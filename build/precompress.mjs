import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { createCache } from './cache.mjs';

/** Smaller files are not compressed (bytes): their responses are mostly headers. */
const minBytes = 200;

const encodings = {
  '.br': (bytes) =>
    promisify(zlib.brotliCompress)(bytes, {
      params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 11, [zlib.constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    }),
  '.gz': (bytes) => promisify(zlib.gzip)(bytes, { level: 9 }),
  // With the known length, zstd uses a window of that size. By default, it uses 8 MB or more per file.
  '.zst': (bytes) =>
    promisify(zlib.zstdCompress)(bytes, {
      pledgedSrcSize: bytes.length,
      params: { [zlib.constants.ZSTD_c_compressionLevel]: 19 },
    }),
};

/** Compressed files of earlier builds, by content. A build has a few hundred files, and most do not change. */
const cache = createCache('compressed', { maxBytes: 8 * 1024 * 1024 });

async function encodeOnce(extension, contents) {
  const encode = encodings[extension];
  // Another Node version or other settings can compress better.
  const key = hash('sha256', `${process.version} ${encode} ${hash('sha256', contents)}`) + extension;
  const known = await cache.read(key);
  if (known) return known;
  const encoded = await encode(contents);
  await cache.write(key, encoded);
  return encoded;
}

/**
 * Compresses all files with all encodings in parallel, on Node's thread pool. Encodings that save nothing are left out.
 *
 * @param {{ path: string, contents: Uint8Array }[]} files
 * @returns {Promise<{ path: string, contents: Uint8Array }[]>}
 */
export async function precompress(files) {
  // Largest first: a large file that starts last would run after all others.
  const worthwhile = files
    .filter(({ contents }) => contents.length >= minBytes && isCompressible(contents))
    .sort((a, b) => b.contents.length - a.contents.length);
  const encoded = worthwhile.flatMap(({ path, contents }) =>
    Object.keys(encodings).map(async (extension) => ({
      path: path + extension,
      contents: await encodeOnce(extension, contents),
      plainLength: contents.length,
    })),
  );
  const made = await Promise.all(encoded);
  return made.filter(({ contents, plainLength }) => contents.length < plainLength);
}

/** The part of a file that shows whether the rest can be compressed (bytes). */
const sampleBytes = 64 * 1024;

/** False for photos, videos and archives, on which the best compression would spend more than a second for each MB. */
function isCompressible(contents) {
  const start = Math.floor(contents.length / 2); // a video can begin with text
  const sample = contents.subarray(start, start + sampleBytes);
  return sample.length < sampleBytes || zlib.gzipSync(sample, { level: 1 }).length < 0.95 * sampleBytes;
}

/**
 * Compresses the source maps, in the encoding of the store that keeps those of each build. This takes a tenth of
 * the time at the first start of a build. Leaves out the texts of dependencies, of which the desk shows no lines.
 *
 * @param {{ path: string, contents: Uint8Array | string }[]} files
 * @returns {Promise<{ path: string, contents: Uint8Array }[]>}
 */
export async function packMaps(files) {
  return Promise.all(
    files.map(async ({ path, contents }) => ({
      path: `${path}.zst`,
      contents: await promisify(zlib.zstdCompress)(withoutDependencies(contents)),
    })),
  );
}

function withoutDependencies(contents) {
  const map = JSON.parse(Buffer.from(contents).toString());
  const keepOwn = (text, index) => (map.sources[index]?.includes('node_modules/') ? null : text);
  return JSON.stringify({ ...map, sourcesContent: map.sourcesContent?.map(keepOwn) });
}
