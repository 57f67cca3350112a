import { spellPath } from '../request/paths.ts';

type Listener = (path: string) => void;

/** Module state, because code anywhere in the product can know that a page has changed. */
const caches = new Set<Listener>();
let sharing: Listener | undefined;

/**
 * Renders a static or shell page again at its next request, in all its variants: `revalidate('/articles/7')`. Call it once
 * the change is stored. Replicas that share `DESK_DATABASE_URL` do the same within a second.
 *
 * @param path the path of a page, as `createHref()` returns it; a query is ignored
 * @throws TypeError if it is not a path
 */
export function revalidate(path: string): void {
  const spelling = spellPath(encodeURI(path.replace(/[?#].*$/s, '')).replaceAll('%25', '%'));
  if ('refusal' in spelling) {
    throw new TypeError(`revalidate() was given ${JSON.stringify(path)}. Give it the path of a page: "/articles/7".`);
  }
  dropCached(spelling.path);
  sharing?.(spelling.path);
}

/** Drops a page from the caches of this process. @param path normalized */
export function dropCached(path: string): void {
  for (const drop of caches) drop(path);
}

/** Calls the listener with the normalized path of each page to drop. */
export function onDrop(listener: Listener): void {
  caches.add(listener);
}

/** Sets what is called with the normalized path of each page to drop on other replicas. */
export function shareRevalidations(listener: Listener): void {
  sharing = listener;
}
