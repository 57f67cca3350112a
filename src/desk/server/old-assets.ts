/**
 * Finds an asset that this build does not have, by its URL path: `/assets/home-X7K2QM2X.js`. A tab that was open during
 * a deploy requests assets of its own build. During a rolling deploy, a new page can also reach an old replica.
 *
 * @returns its bytes; undefined if no stored build has it, or the store is unavailable
 */
type FindOldAsset = (path: string) => Promise<Uint8Array | undefined>;

/** Asset names of the build, which contain a hash. Other paths are never looked up. */
const HASHED_NAME = /^\/assets\/[\w.@-]{1,200}-[A-Z0-9]{8}\.\w{1,10}$/;

/** Concurrent lookups (a count), because clients can make up any number of names. */
const MAX_LOOKUPS = 32;

/** @param readAsset takes the path within `dist` */
export function createFindOldAsset(readAsset: (path: string) => Promise<Uint8Array | undefined>): FindOldAsset {
  let lookups = 0;

  return async function findOldAsset(path) {
    if (!HASHED_NAME.test(path) || lookups >= MAX_LOOKUPS) return undefined;
    lookups += 1;
    try {
      return await readAsset(`client${path}`);
    } catch {
      return undefined; // The store is unavailable, which the desk worker has logged.
    } finally {
      lookups -= 1;
    }
  };
}
