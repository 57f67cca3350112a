import { randomBytes } from 'node:crypto';
import { toCrockford } from './crockford.ts';

/** Names one time that a failure happened. */
export function createOccurrence(): string {
  return toCrockford(randomBytes(5));
}
