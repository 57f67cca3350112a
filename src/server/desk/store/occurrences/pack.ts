import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** The store's own bytes are believed no more than this (bytes): a broken one must not fill the memory. */
const MAX_UNPACKED = 64 * 1024 * 1024;

/** @param dictionary what the value has in common with others: without it the bytes can be read no more */
export function packJson(value: unknown, dictionary?: Uint8Array): Uint8Array {
  return zstdCompressSync(Buffer.from(JSON.stringify(value)), { ...(dictionary && { dictionary }) });
}

/** @returns undefined where the bytes are not what `packJson` made with this dictionary */
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

/** @throws where the bytes are broken */
export function unpackBytes(bytes: Uint8Array): Uint8Array {
  return zstdDecompressSync(bytes, { maxOutputLength: MAX_UNPACKED });
}
