import { ASSET_PREFIX } from '../../shared/engine/wire/protocol.ts';
import { MAX_OLD_ASSET_BYTES, UNKNOWN_ASSET_TIME } from './limits.ts';

/**
 * Finds an asset that this build does not have, by its URL path: `/assets/home-X7K2QM2X.js`. A tab that
 * was open across a deploy asks for those of its build, and where replicas are exchanged one by one, a
 * new page may ask an old replica.
 *
 * @returns its bytes; undefined where no build that is kept has it, or the store is away
 */
export type FindOldAsset = (path: string) => Promise<Uint8Array | undefined>;

/** As the build names them, with a hash of what is in them: nothing else is ever looked up. */
const HASHED_NAME = /^\/assets\/[\w.@-]{1,200}-[A-Z0-9]{8}\.\w{1,10}$/;

/** Questions that run at once (a count): strangers can make up names without end. */
const MAX_QUESTIONS = 32;
/** Names that are known to lead nowhere (a count). */
const MAX_UNKNOWN = 1000;

/** @param readAsset by the path within `dist` */
export function createFindOldAsset(
  readAsset: (path: string) => Promise<Uint8Array | undefined>,
  now: () => number = () => performance.now(),
): FindOldAsset {
  /** The one used last stands last. */
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
      return undefined; // The store is away, which the desk worker has told.
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
