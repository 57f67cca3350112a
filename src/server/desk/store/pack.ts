import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** The store's own bytes are believed no more than this (bytes): a broken one must not fill the memory. */
const MAX_UNPACKED = 64 * 1024 * 1024;

export function packJson(value: unknown): Uint8Array {
  return packBytes(Buffer.from(JSON.stringify(value)));
}

/** @returns undefined where the bytes are not what `packJson` made */
export function unpackJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(unpackBytes(bytes)).toString('utf8'));
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
