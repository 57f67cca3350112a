import type { Commit } from '../../shared/rendering/engine-context.ts';
import { isTextField } from './is-text-field.ts';

const LIVE_REGION_ID = 'spillway-announcer';

/**
 * Does after a navigation what a document load does by itself: focus, announcement, scroll.
 *
 * @param location of the page that is shown
 */
export function createAfterNavigation({ pathname: path, hash }: Commit['location']): (commit: Commit) => void {
  // Created before its first text, because a region that is inserted together with its text is often not read.
  const region = createLiveRegion();
  return function afterNavigation({ location, restoreScrollPosition, preventScrollReset }) {
    const isOtherPage = path !== location.pathname;
    // A form that stays where it is, below a fragment, must not move the page.
    const isStill = preventScrollReset && !isOtherPage && hash === location.hash;
    ({ pathname: path, hash } = location);
    const target = hash && !isStill ? document.getElementById(decode(hash.slice(1))) : null;
    // A field that both pages have, such as a search in the layout, keeps the focus.
    if (target || (isOtherPage && !isTextField(document.activeElement))) moveFocus(target);
    // The title is in the document by then. Without this, a screen reader would not announce the new page.
    if (isOtherPage) region.textContent = document.title;
    scroll(restoreScrollPosition, target, preventScrollReset);
  };
}

function moveFocus(target: HTMLElement | null): void {
  const place = target ?? document.querySelector<HTMLElement>('main') ?? document.body;
  if (!place.hasAttribute('tabindex')) {
    place.tabIndex = -1;
    place.addEventListener('blur', () => place.removeAttribute('tabindex'), { once: true });
  }
  place.focus({ preventScroll: true });
}

function createLiveRegion(): HTMLElement {
  const region = document.createElement('div');
  region.id = LIVE_REGION_ID;
  region.role = 'status';
  region.ariaLive = 'assertive';
  region.style.cssText =
    'position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap';
  document.body.append(region);
  return region;
}

function scroll(saved: number | false | null, target: HTMLElement | null, keep: boolean): void {
  if (saved === false) return;
  if (typeof saved === 'number') window.scrollTo(0, saved);
  else if (target) target.scrollIntoView();
  else if (!keep) window.scrollTo(0, 0);
}

function decode(hash: string): string {
  try {
    return decodeURIComponent(hash);
  } catch {
    return hash;
  }
}
