import { Second } from '../../../shared/units.ts';

const KEY = 'spillway:full-load';

/** Within this time a second full load of the same address would be a loop (ms). */
const GUARD_TIME = 10 * Second;

/**
 * Loads the whole document, for what cannot be shown without: another build, a chunk that does not
 * come, an address that is no page.
 *
 * @returns false where this address was loaded whole a moment ago: doing it again would not help
 */
export function loadDocument(url: string, { guarded = false }: { guarded?: boolean } = {}): boolean {
  if (guarded && wasJustLoaded(url)) return false;
  if (url === location.href) location.reload();
  else location.assign(url);
  return true;
}

function wasJustLoaded(url: string): boolean {
  const now = Date.now();
  try {
    const [last = '', at = '0'] = (sessionStorage.getItem(KEY) ?? '').split('\n');
    if (last === url && now - Number(at) < GUARD_TIME) return true;
    sessionStorage.setItem(KEY, `${url}\n${now}`);
    return false;
  } catch {
    return true; // no storage, so a loop could not be told: better an error page than a loop
  }
}
