import { Millisecond } from '../../shared/units.ts';
import type { PrefetchPriority } from './page-data/queue.ts';

export interface LinkHandlers {
  navigate(url: URL, options: { replace: boolean; preventScrollReset: boolean }): void;
  submit(form: HTMLFormElement, submitter: HTMLElement | null): void;
  prefetch(url: URL, priority: PrefetchPriority, signal?: AbortSignal): void;
}

/** A pointer that only crosses a link asks for nothing (ms). */
const HOVER_DELAY = 50 * Millisecond;

/**
 * Listens on the window for the clicks, hovers and submits of the engine's links and forms. React's
 * own listeners sit on the document, so a handler of the page that prevents the default comes first.
 */
export function listenToLinks(handlers: LinkHandlers): void {
  addEventListener('click', (event) => {
    const link = findLink(event.target);
    if (!link || event.defaultPrevented || event.button !== 0 || hasModifier(event) || !isOwn(link)) return;
    event.preventDefault();
    handlers.navigate(new URL(link.href), {
      replace: link.hasAttribute('data-replace'),
      preventScrollReset: link.hasAttribute('data-keep-scroll'),
    });
  });

  addEventListener('submit', (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || event.defaultPrevented || !form.hasAttribute('data-form')) return;
    if ((event.submitter?.getAttribute('formtarget') ?? form.target) !== '') return;
    event.preventDefault();
    handlers.submit(form, event.submitter);
  });

  let hovered: HTMLAnchorElement | undefined;
  let cancel: (() => void) | undefined;
  function intend(event: Event, delay: number): void {
    const link = findLink(event.target);
    if (link === hovered) return;
    cancel?.();
    cancel = undefined;
    hovered = link;
    if (link?.dataset.link !== 'intent' || !isOwn(link)) return;
    const controller = new AbortController();
    const timer = setTimeout(() => handlers.prefetch(new URL(link.href), 'intent', controller.signal), delay);
    cancel = () => {
      clearTimeout(timer);
      controller.abort();
    };
  }
  addEventListener('mouseover', (event) => intend(event, HOVER_DELAY), { passive: true });
  addEventListener('focusin', (event) => intend(event, 0));
  addEventListener('touchstart', (event) => intend(event, 0), { passive: true });

  watchViewport(handlers);
}

function watchViewport(handlers: LinkHandlers): void {
  const seen = new WeakSet<Element>();
  const observer = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting || !(target instanceof HTMLAnchorElement)) continue;
      observer.unobserve(target);
      handlers.prefetch(new URL(target.href), 'viewport');
    }
  });
  let scheduled = false;
  function scan(): void {
    scheduled = false;
    for (const link of document.querySelectorAll<HTMLAnchorElement>('a[data-link="viewport"], a[data-link="render"]')) {
      if (seen.has(link) || !isOwn(link)) continue;
      seen.add(link);
      if (link.dataset.link === 'viewport') observer.observe(link);
      else handlers.prefetch(new URL(link.href), 'render');
    }
  }
  new MutationObserver(() => {
    if (scheduled) return;
    scheduled = true;
    setTimeout(scan);
  }).observe(document.documentElement, { childList: true, subtree: true });
  scan();
}

function findLink(target: EventTarget | null): HTMLAnchorElement | undefined {
  const link = target instanceof Element ? target.closest('a[data-link]') : null;
  return link instanceof HTMLAnchorElement ? link : undefined;
}

function isOwn(link: HTMLAnchorElement): boolean {
  return (
    link.origin === location.origin && (link.target === '' || link.target === '_self') && !link.hasAttribute('download')
  );
}

function hasModifier(event: MouseEvent): boolean {
  return event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
}
