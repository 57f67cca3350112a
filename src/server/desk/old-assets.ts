import { ASSET_PREFIX } from '../../shared/engine/wire/protocol.ts';
import { MAX_OLD_ASSET_BYTES, UNKNOWN_ASSET_TIME } from './limits.ts';

/**
 * Finds an asset that this build does not have, by its URL path: `/assets/home-X7K2QM2X.js`. A tab that was open during
 * a deploy requests assets of its own build. During a rolling deploy, a new page can also reach an old replica.
 *
 * @returns its bytes; undefined if no stored build has it, or the store is unavailable
 */
export type FindOldAsset = (path: string) => Promise<Uint8Array | undefined>;

/** Asset names of the build, which contain a hash. Other paths are never looked up. */
const HASHED_NAME = /^\/assets\/[\w.@-]{1,200}-[A-Z0-9]{8}\.\w{1,10}$/;

/** Concurrent lookups (a count), because clients can make up any number of names. */
const MAX_QUESTIONS = 32;
/** Remembered names of missing assets (a count). */
const MAX_UNKNOWN = 1000;

/** @param readAsset takes the path within `dist` */
export function createFindOldAsset(
  readAsset: (path: string) => Promise<Uint8Array | undefined>,
  now: () => number = () => performance.now(),
): FindOldAsset {
  /** In the order of their last use, the latest last. */
  const known = new Map<string, Uint8Array>();
  const unknown = new Map<string, number>();
  const questions = new Map<string, Promise<Uint8Array | undefined>>();
  let bytes = 0;

  function keep(path: string, file: Uint8Array): void {
    if (file.length > MAX_OLD_ASSET_BYTES / 4) return;
    known.set(path, file);
    bytes += file.length;
    for (const [oldest, { length }] of known) {
      if (bytes <= MAX_OLD_ASSET_BYTES) break;
      known.delete(oldest);
      bytes -= length;
    }
  }

  function noteUnknown(path: string): void {
    if (unknown.size >= MAX_UNKNOWN) unknown.clear();
    unknown.set(path, now());
  }

  async function ask(path: string): Promise<Uint8Array | undefined> {
    try {
      const file = await readAsset(`client${path}`);
      if (file) keep(path, file);
      else noteUnknown(path);
      return file;
    } catch {
      return undefined; // The store is unavailable, which the desk worker has logged.
    } finally {
      questions.delete(path);
    }
  }

  return async function findOldAsset(path) {
    if (!path.startsWith(ASSET_PREFIX) || !HASHED_NAME.test(path)) return undefined;
    const file = known.get(path);
    if (file) {
      known.delete(path);
      known.set(path, file);
      return file;
    }
    if (now() - (unknown.get(path) ?? Number.NEGATIVE_INFINITY) < UNKNOWN_ASSET_TIME) return undefined;
    const asked = questions.get(path);
    if (asked) return asked;
    if (questions.size >= MAX_QUESTIONS) return undefined;
    const question = ask(path);
    questions.set(path, question);
    return question;
  };
}
