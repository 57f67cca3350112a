import { Second } from '../../../shared/units.ts';
import { isLoadFailure } from '../reporting/thrown.ts';

const KEY = 'spillway:full-load';

/** Within this time, a second full load of the same URL would be a loop (ms). */
const GUARD_TIME = 10 * Second;

/**
 * Loads the whole document, for pages that cannot be shown without it: of another build, with a chunk that does not
 * load, or at a URL without a page.
 *
 * @returns a promise that never settles; undefined if this URL was loaded a moment ago and loading
 *   it again would not help
 */
export function loadDocument(path: string, { guarded = true }: { guarded?: boolean } = {}): Promise<never> | undefined {
  const url = new URL(path, location.origin).href;
  if (guarded && wasJustLoaded(url)) return undefined;
  if (url === location.href) location.reload();
  else location.assign(url);
  return new Promise(() => {});
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
    if (!known.has(thrown)) reload ??= loadDocument(location.href);
    known.add(thrown);
    return reload;
  };
}

function wasJustLoaded(url: string): boolean {
  const now = Date.now();
  try {
    const [last = '', at = '0'] = (sessionStorage.getItem(KEY) ?? '').split('\n');
    if (last === url && now - Number(at) < GUARD_TIME) return true;
    sessionStorage.setItem(KEY, `${url}\n${now}`);
    return false;
  } catch {
    return true; // no storage, so a loop would go unnoticed: better an error page than a loop
  }
}
