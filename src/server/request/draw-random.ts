import { randomFillSync } from 'node:crypto';
import { KiB } from '../../shared/units.ts';

const pool = Buffer.alloc(4 * KiB);
let used = pool.length;

/**
 * Returns random bytes as text, for each request. They are drawn for many requests at once, because the call costs more
 * than the bytes.
 *
 * @param bytes at most 4096
 */
export function drawRandom(bytes: number, encoding: 'hex' | 'base64'): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.toString(encoding, used - bytes, used);
}
