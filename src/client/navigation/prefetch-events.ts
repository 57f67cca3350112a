import { Millisecond } from '../../shared/units.ts';
import type { PrefetchPriority } from '../page-data/page-entries.ts';
import { findLink, opensHere } from './link-events.ts';

export type Prefetch = (url: URL, priority: PrefetchPriority, signal?: AbortSignal) => void;

/** A pointer that only crosses a link must not prefetch it (ms). */
const HOVER_DELAY = 50 * Millisecond;

/** Watches which links the visitor is about to follow, or can see. */
export function prefetchLinks(prefetch: Prefetch): void {
  let hovered: HTMLAnchorElement | undefined;
  let cancel: (() => void) | undefined;
  function intend(target: EventTarget | null, delay: number): void {
    const link = findLink(target);
    if (link === hovered) return;
    cancel?.();
    cancel = undefined;
    hovered = link;
    if (link?.dataset.link !== 'intent' || !opensHere(link)) return;
    const controller = new AbortController();
    const timer = setTimeout(() => prefetch(new URL(link.href), 'intent', controller.signal), delay);
    cancel = () => {
      clearTimeout(timer);
      controller.abort();
    };
  }
  // The pointer can have been on a link since before this code was loaded.
  intend(document.querySelector('a[data-link]:hover'), 0);
  addEventListener('mouseover', (event) => intend(event.target, HOVER_DELAY), { passive: true });
  addEventListener('focusin', (event) => intend(event.target, 0));
  addEventListener('touchstart', (event) => intend(event.target, 0), { passive: true });

  watchViewport(prefetch);
}

function watchViewport(prefetch: Prefetch): void {
  /** By link, because React keeps the element of a link whose URL changes. */
  const seen = new WeakMap<Element, string>();
  const observer = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting || !(target instanceof HTMLAnchorElement)) continue;
      observer.unobserve(target);
      prefetch(new URL(target.href), 'viewport');
    }
  });
  let scheduled = false;
  function scan(): void {
    scheduled = false;
    for (const link of document.querySelectorAll<HTMLAnchorElement>('a[data-link="viewport"], a[data-link="render"]')) {
      if (seen.get(link) === link.href || !opensHere(link)) continue;
      seen.set(link, link.href);
      if (link.dataset.link === 'viewport') observer.observe(link);
      else prefetch(new URL(link.href), 'render');
    }
  }
  new MutationObserver(() => {
    if (scheduled) return;
    scheduled = true;
    setTimeout(scan);
  }).observe(document.documentElement, { childList: true, subtree: true, attributeFilter: ['href'] });
  scan();
}
