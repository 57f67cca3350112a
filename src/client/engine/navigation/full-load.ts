import { Second } from '../../../shared/units.ts';
import { isLoadFailure } from '../reporting/thrown.ts';

const KEY = 'spillway:full-load';

/** Within this time, a second full load of the same URL would be a loop (ms). */
const GUARD_TIME = 10 * Second;

/**
 * How long a document can take to replace the page (ms). After that, the URL was perhaps a download, which replaces
 * nothing. There is no event for it.
 */
const REPLACE_TIME = 5 * Second;

/**
 * Loads the whole document, for pages that cannot be shown without it: of another build, with a chunk that does not
 * load, or at a URL without a page.
 *
 * @returns true once it is clear that the page stays, or when Back shows it again; false if this URL was loaded a
 *   moment ago, so that loading it again would not help
 */
export async function loadDocument(path: string, { guarded = true }: { guarded?: boolean } = {}): Promise<boolean> {
  const { href } = new URL(path, location.origin);
  if (guarded && wasJustLoaded(href)) return false;
  if (withoutHash(href) === withoutHash(location.href)) {
    history.replaceState(history.state, '', href); // a new fragment alone loads nothing
    location.reload();
  } else {
    location.assign(href);
  }
  return new Promise((resolve) => {
    const listening = new AbortController();
    function stay(): void {
      listening.abort();
      resolve(true);
    }
    setTimeout(stay, REPLACE_TIME);
    addEventListener('pageshow', ({ persisted }) => persisted && stay(), listening);
  });
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

function withoutHash(url: string): string {
  return url.replace(/#.*/s, '');
}
