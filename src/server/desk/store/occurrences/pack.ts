import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** The largest unpacked value (bytes), so that a corrupt row cannot fill the memory. */
const MAX_UNPACKED = 64 * 1024 * 1024;

/** @param dictionary the parts that many values share. The result cannot be read without it */
export function packJson(value: unknown, dictionary?: Uint8Array): Uint8Array {
  return zstdCompressSync(Buffer.from(JSON.stringify(value)), { ...(dictionary && { dictionary }) });
}

/** @returns undefined if `packJson` did not make these bytes with this dictionary */
export function unpackJson(bytes: Uint8Array, dictionary?: Uint8Array): unknown {
  try {
    const options = { maxOutputLength: MAX_UNPACKED, ...(dictionary && { dictionary }) };
    return JSON.parse(zstdDecompressSync(bytes, options).toString('utf8'));
  } catch {
    return undefined;
  }
}

export function packBytes(bytes: Uint8Array): Uint8Array {
  return zstdCompressSync(bytes);
}

/** @throws if the bytes are corrupt */
export function unpackBytes(bytes: Uint8Array): Uint8Array {
  return zstdDecompressSync(bytes, { maxOutputLength: MAX_UNPACKED });
}
