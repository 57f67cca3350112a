export interface LinkHandlers {
  navigate(url: URL, options: { replace: boolean; preventScrollReset: boolean }): void;
  submit(form: HTMLFormElement, submitter: HTMLElement | null): void;
}

/**
 * Listens on the window for the clicks and submits of the engine's links and forms. React's own listeners are on the
 * document, so a handler of the page that prevents the default runs first.
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
}

/** Finds the engine's link that an event happened in. */
export function findLink(target: EventTarget | null): HTMLAnchorElement | undefined {
  const link = target instanceof Element ? target.closest('a[data-link]') : null;
  return link instanceof HTMLAnchorElement ? link : undefined;
}

/** True for a link to this site that opens in this window. */
export function isOwn(link: HTMLAnchorElement): boolean {
  return (
    link.origin === location.origin && (link.target === '' || link.target === '_self') && !link.hasAttribute('download')
  );
}

function hasModifier(event: MouseEvent): boolean {
  return event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
}
