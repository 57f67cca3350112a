/** A form that is submitted within the page. */
export interface Submission {
  readonly form: HTMLFormElement;
  readonly submitter: HTMLElement | null;
  /** A link to where the form leads, with its target. */
  readonly link: HTMLAnchorElement;
}

export interface LinkHandlers {
  navigate(url: URL, options: { replace: boolean; preventScrollReset: boolean }): void;
  submit(submission: Submission): void;
}

/** The page that is shown. During a navigation, the window can have the URL of the next one already. */
export const shown = { url: '' };

/**
 * Listens on the window for the clicks and submits of the engine's links and forms. React's own listeners are on the
 * document, so a handler of the page that prevents the default runs first. Call it once React listens there.
 */
export function listenToLinks(handlers: LinkHandlers): void {
  shown.url = location.href;
  listenLast('click', (event) => {
    const link = findLink(event.target);
    if (!link || event.defaultPrevented || event.button !== 0 || hasModifier(event) || !opensHere(link)) return;
    if (isHandledInside(link, event.target as Element)) return;
    event.preventDefault();
    handlers.navigate(new URL(toUrl(link.getAttribute('href')), shown.url), {
      replace: link.hasAttribute('data-replace'),
      preventScrollReset: link.hasAttribute('data-keep-scroll'),
    });
  });

  // Before React's: forms of React Router do not ask where they lead, but skip an event that was handled.
  addEventListener(
    'submit',
    (event) => {
      if (toSubmission(event) === null) Object.defineProperty(event, 'defaultPrevented', { value: true });
    },
    true,
  );

  listenLast('submit', (event) => {
    const submission = event.defaultPrevented ? null : toSubmission(event);
    if (!submission || readFormAttribute(submission, 'data-form') === null) return;
    event.preventDefault();
    handlers.submit(submission);
  });
}

/** Also hears events that a handler of the page has stopped: React stops them at the document. */
function listenLast<Type extends 'click' | 'submit'>(type: Type, hear: (event: DocumentEventMap[Type]) => void): void {
  document.addEventListener(type, (event) => event.cancelBubble && hear(event));
  addEventListener(type, hear as EventListener); // for events of this type
}

/**
 * Returns null for a form that is the browser's: for another site or window, or to close a dialog. Undefined for one whose
 * action is a function, which React calls, and for other elements, which can have events of the same name.
 */
function toSubmission({ target: form, submitter }: SubmitEvent): Submission | null | undefined {
  if (!(form instanceof HTMLFormElement)) return undefined;
  const link = document.createElement('a');
  const submission = { form, submitter, link };
  link.href = toUrl(readFormAttribute(submission, 'action'));
  link.target = readFormAttribute(submission, 'target') ?? '';
  if (link.protocol === 'javascript:') return undefined;
  return opensHere(link) && !/^dialog$/i.test(readFormAttribute(submission, 'method') ?? '') ? submission : null;
}

/** Resolves URLs without a path by the page that is shown: `?page=2`, `#top`, and that of a form without `action`. */
function toUrl(given: string | null): string {
  return /^[?#]/.test(given ?? '') ? new URL(given ?? '', shown.url).href : given || shown.url;
}

/**
 * Reads an attribute of a form, or of the button that submits it (`formaction`). Never read a property: a field of the
 * same name replaces it, methods too.
 */
export function readFormAttribute(
  { form, submitter }: Pick<Submission, 'form' | 'submitter'>,
  name: string,
): string | null {
  return submitter?.getAttribute(`form${name}`) ?? Element.prototype.getAttribute.call(form, name);
}

/** Finds the engine's link that an event happened in. */
export function findLink(target: EventTarget | null): HTMLAnchorElement | undefined {
  const link = target instanceof Element ? Element.prototype.closest.call(target, 'a[data-link]') : null;
  return link instanceof HTMLAnchorElement ? link : undefined;
}

/** Whether a control inside of the link handles the click, such as the button of a form. Browsers do not follow it then. */
function isHandledInside(link: HTMLAnchorElement, target: Element): boolean {
  const control = Element.prototype.closest.call(target, 'a[href], button, input, label, summary');
  if (!control || control === link) return false;
  if (!(control instanceof HTMLInputElement || control instanceof HTMLButtonElement)) return true;
  const { form, type } = control;
  return /^(checkbox|radio|file|color)$/.test(type) || (form !== null && /^(submit|reset|image)$/.test(type));
}

/** True for a link to this site that opens in this window. The origin of a `blob:` URL is this site's, too. */
export function opensHere(link: HTMLAnchorElement): boolean {
  return (
    link.protocol === location.protocol &&
    link.host === location.host &&
    /^(_self)?$/i.test(link.target) &&
    !link.hasAttribute('download')
  );
}

function hasModifier(event: MouseEvent): boolean {
  return event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
}
