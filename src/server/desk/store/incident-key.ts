import { type Address, parseAddress } from '../../engine/errors/parse-address.ts';

/**
 * The key of an incident in a query. The same failure in two environments is two incidents, each with its
 * own state, counts, releases and notifications. In tables, the key is the plain digest in the environment
 * that the store was created for (its *home*), and `7K3QM2XA@staging` in any other. Releases before schema 9
 * use only plain digests, so they write to the incidents of the home environment.
 *
 * A query also accepts the home environment in a key: `7K3QM2XA@production`.
 */
export type CallKey = `${string}@${string}`;

export function toCallKey(digest: string, environment: string): CallKey {
  return `${digest}@${environment}`;
}

export function keyOf({ digest, environment }: { readonly digest: string; readonly environment: string }): CallKey {
  return toCallKey(digest, environment);
}

/** Returns the key in tables for the key in a query. */
export function toKey(callKey: string, home: string): string {
  const { digest, environment } = splitKey(callKey);
  return environment === undefined || environment === home ? digest : callKey;
}

/** Returns the key of a digest in an environment. */
export function toKeyIn(digest: string, environment: string, home: string): string {
  return toKey(toCallKey(digest, environment), home);
}

/** @returns no `environment` for the store's home environment */
export function splitKey(key: string): { readonly digest: string; readonly environment?: string } {
  const at = key.indexOf('@');
  return at < 0 ? { digest: key } : { digest: key.slice(0, at), environment: key.slice(at + 1) };
}

export function toDigest(key: string): string {
  return splitKey(key).digest;
}

/** Returns the key of another digest in the environment of a key. */
export function toKeyBeside(digest: string, key: string): string {
  return digest + key.slice(toDigest(key).length);
}

/** Returns an alias target: `7K3QM2XA`, `7K3QM2XA-9F4W0R6B`, or `7K3QM2XA-9F4W0R6B@staging` outside of the home. */
export function toAliasTarget(key: string, occurrence?: string): string {
  if (occurrence === undefined) return key;
  const { digest, environment } = splitKey(key);
  return `${digest}-${occurrence}${environment === undefined ? '' : `@${environment}`}`;
}

/** @returns an address with a key instead of a digest */
export function readAliasTarget(target: string): Address | undefined {
  const { digest: text, environment } = splitKey(target);
  const address = parseAddress(text);
  return (
    address && { ...address, digest: environment === undefined ? address.digest : `${address.digest}@${environment}` }
  );
}
