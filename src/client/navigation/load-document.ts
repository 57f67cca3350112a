import { Second } from '../../shared/units.ts';
import type { PageResult } from '../page-data/fetch-page-data.ts';
import { LAST_LOAD, wasJustLoaded } from './chunk-reload.ts';
import { shown } from './link-events.ts';
import { keepPageState, keepResult } from './page-state.ts';

/**
 * How long a document can take to replace the page (ms). After that, the URL was perhaps a download, which replaces
 * nothing. There is no event for it.
 */
const REPLACE_TIME = 5 * Second;

/** Thrown in place of a document load that would end with the browser's own error page. */
export const UNREACHABLE = Symbol('unreachable');

/**
 * @param isUncertain whether to ask the server. Any answer will do: a proxy's sign-in can refuse page data, and appear as
 *   a document
 * @throws UNREACHABLE without a connection
 */
export async function requireReachable(url: string, isUncertain: boolean, signal: AbortSignal): Promise<void> {
  if (navigator.onLine === false) throw UNREACHABLE;
  if (!isUncertain) return;
  await fetch(url, { method: 'HEAD', redirect: 'manual', signal }).catch(() => {
    throw UNREACHABLE;
  });
}

/**
 * Loads the whole document, for pages that cannot be shown without it: of another build, with a chunk that does not
 * load, or at a URL without a page.
 *
 * @param signal aborted when another navigation begins, whose page the document must not replace
 * @returns true once it is clear that the page stays, or when Back shows it again; false if this URL was loaded a
 *   moment ago, so that loading it again would not help
 */
export async function loadDocument(
  path: string,
  how: { guarded: boolean; isReplaced: boolean },
  signal?: AbortSignal,
): Promise<boolean> {
  const { href } = new URL(path, location.origin);
  if (how.guarded && wasJustLoaded(href)) return false;
  if (withoutHash(href) === withoutHash(location.href)) {
    history.replaceState(history.state, '', href); // a new fragment alone loads nothing
    keepPageState();
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
    function cancel(): void {
      window.stop();
      if (how.guarded) sessionStorage.removeItem(LAST_LOAD); // it was not loaded
    }
    setTimeout(stay, REPLACE_TIME);
    addEventListener('pageshow', ({ persisted }) => persisted && stay(), listening);
    signal?.addEventListener('abort', cancel, listening);
  });
}

/**
 * Shows what an action of another build returned: this build has neither the page after the change nor a field that is
 * required now. If the form is only refused, it stays, because a document would lose its files.
 */
export async function leaveOldBuild(
  { payload: { action }, answer }: PageResult,
  { url, form, fetcherKey }: { url: string; form: FormData | undefined; fetcherKey: string | null },
): Promise<void> {
  const isRefused = action?.errors !== undefined;
  if (isRefused && Object.keys(action.errors).every((name) => name === '' || form?.has(name))) {
    addEventListener('pagehide', keepPageState, { once: true });
    return;
  }
  if (answer) keepResult(url, answer);
  // After a form that was accepted, the router loads the page, and so its document.
  if (isRefused || fetcherKey !== null) await loadDocument(shown.url, { guarded: true, isReplaced: true });
}

function withoutHash(url: string): string {
  return url.replace(/#.*/s, '');
}
