import { Second } from '../../shared/units.ts';
import { isLoadFailure } from '../reporting/thrown.ts';

/** The key of the URL that was loaded as a document last, in the session's storage. */
export const LAST_LOAD = 'spillway:full-load';

/** Within this time, a second full load of the same URL would be a loop (ms). */
const GUARD_TIME = 10 * Second;

/** Notes that a URL is about to be loaded as a document. @returns whether it was loaded a moment ago */
export function wasJustLoaded(url: string): boolean {
  const now = Date.now();
  try {
    const [last = '', at = '0'] = (sessionStorage.getItem(LAST_LOAD) ?? '').split('\n');
    if (last === url && now - Number(at) < GUARD_TIME) return true;
    sessionStorage.setItem(LAST_LOAD, `${url}\n${now}`);
    return false;
  } catch {
    return true; // no storage, so a loop would go unnoticed: better an error page than a loop
  }
}

/**
 * Returns a function that reloads the document if a value was thrown because a chunk did not load: after a deploy, those
 * of an old tab can be gone. It returns the same for the same value, because an error is rendered more than once:
 * undefined if a reload would not help.
 */
export function createChunkReload(): (thrown: unknown) => Promise<never> | undefined {
  const known = new Set<unknown>();
  let reload: Promise<never> | undefined;
  return function reloadFor(thrown) {
    if (!isLoadFailure(thrown)) return undefined;
    if (!reload && !known.has(thrown) && !wasJustLoaded(location.href)) {
      location.reload();
      reload = new Promise(() => {});
    }
    known.add(thrown);
    return reload;
  };
}
