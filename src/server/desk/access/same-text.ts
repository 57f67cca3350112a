import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Of this process: hashed with it, two texts have the same length and nothing in common that could be measured. */
const KEY = randomBytes(32);

/** Whether two texts are the same. The time it takes says nothing about where they differ. */
export function isSameText(one: string, other: string): boolean {
  return timingSafeEqual(toHash(one), toHash(other));
}

function toHash(text: string): Buffer {
  return createHmac('sha256', KEY).update(text).digest();
}
