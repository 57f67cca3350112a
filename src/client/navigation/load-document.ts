import { Second } from '../../shared/units.ts';
import { wasJustLoaded } from './chunk-reload.ts';
import { keepPlace } from './place.ts';

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
export async function loadDocument(path: string, how: { guarded: boolean; isReplaced: boolean }): Promise<boolean> {
  const { href } = new URL(path, location.origin);
  if (how.guarded && wasJustLoaded(href)) return false;
  if (withoutHash(href) === withoutHash(location.href)) {
    history.replaceState(history.state, '', href); // a new fragment alone loads nothing
    keepPlace();
    location.reload();
  } else if (how.isReplaced) {
    location.replace(href);
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

function withoutHash(url: string): string {
  return url.replace(/#.*/s, '');
}
