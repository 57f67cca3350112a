import { types } from 'node:util';

/** Never throws, whatever was thrown. */
export function isError(value: unknown): value is Error {
  try {
    return types.isNativeError(value) || value instanceof Error;
  } catch {
    return false; // a revoked Proxy
  }
}

/** Reads a property of an untrusted value; undefined if reading it throws. */
export function read(value: unknown, key: string): unknown {
  try {
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
  } catch {
    return undefined;
  }
}
