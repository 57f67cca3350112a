import { createHash, randomBytes } from 'node:crypto';

/** Returns a new secret. Store only its hash. */
export function createToken(): string {
  return randomBytes(32).toString('base64url');
}

export function toHash(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

export function inFuture(milliseconds: number): string {
  return new Date(Date.now() + milliseconds).toISOString();
}

export function now(): string {
  return inFuture(0);
}
