import { type Address, parseAddress } from '../address.ts';

/**
 * The same failure in two environments is two incidents: each has its own state, counts, releases and
 * notifications. Tables name an incident by its *key*: the digest in the environment that the store was
 * made for (its *home*), `7K3QM2XA@staging` in any other one. Releases before schema 9 know plain
 * digests only, so they go on writing to the incidents of the home environment.
 *
 * Calls take a key too, and there the home environment may be spelled out: `7K3QM2XA@production`.
 */
export type CallKey = `${string}@${string}`;

export function toCallKey(digest: string, environment: string): CallKey {
  return `${digest}@${environment}`;
}

export function keyOf({ digest, environment }: { readonly digest: string; readonly environment: string }): CallKey {
  return toCallKey(digest, environment);
}

/** What tables hold for what a call named. */
export function toKey(callKey: string, home: string): string {
  const { digest, environment } = splitKey(callKey);
  return environment === undefined || environment === home ? digest : callKey;
}

/** The key of the same digest in another environment. */
export function toKeyIn(digest: string, environment: string, home: string): string {
  return toKey(toCallKey(digest, environment), home);
}

/** @returns no environment for the home environment of the store */
export function splitKey(key: string): { readonly digest: string; readonly environment?: string } {
  const at = key.indexOf('@');
  return at < 0 ? { digest: key } : { digest: key.slice(0, at), environment: key.slice(at + 1) };
}

export function toDigest(key: string): string {
  return splitKey(key).digest;
}

/** The key of another digest in the environment of a key. */
export function toKeyBeside(digest: string, key: string): string {
  return digest + key.slice(toDigest(key).length);
}

/** Where an alias leads: `7K3QM2XA`, `7K3QM2XA-9F4W0R6B` or, outside of the home environment, `7K3QM2XA-9F4W0R6B@staging`. */
export function toAliasTarget(key: string, occurrence?: string): string {
  if (occurrence === undefined) return key;
  const { digest, environment } = splitKey(key);
  return `${digest}-${occurrence}${environment === undefined ? '' : `@${environment}`}`;
}

/** @returns `digest` is the key */
export function readAliasTarget(target: string): Address | undefined {
  const { digest: text, environment } = splitKey(target);
  const address = parseAddress(text);
  return (
    address && { ...address, digest: environment === undefined ? address.digest : `${address.digest}@${environment}` }
  );
}
