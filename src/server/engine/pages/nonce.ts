import { drawRandom } from '../request/random.ts';

/** 128 bits, as CSP asks for (https://www.w3.org/TR/CSP3/#security-nonces). */
const NONCE_BYTES = 16;

/** A nonce for one answer. */
export function createNonce(): string {
  return drawRandom(NONCE_BYTES, 'base64');
}
