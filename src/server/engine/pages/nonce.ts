import { randomFillSync } from 'node:crypto';

/** 128 bits, as CSP asks for (https://www.w3.org/TR/CSP3/#security-nonces). */
const NONCE_BYTES = 16;
const pool = Buffer.alloc(256 * NONCE_BYTES);
let used = pool.length;

/** A nonce for one answer. Random bytes are drawn for many at once: the call costs more than the bytes. */
export function createNonce(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += NONCE_BYTES;
  return pool.toString('base64', used - NONCE_BYTES, used);
}
