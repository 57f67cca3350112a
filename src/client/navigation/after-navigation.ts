import type { Commit } from '../../shared/rendering/engine-context.ts';
import { readFormAttribute, type Submission } from './link-events.ts';

const LIVE_REGION_ID = 'spillway-announcer';
const HIDDEN = 'position:fixed;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap';
const SHOWN =
  'position:fixed;inset:auto 0 0;z-index:9999;padding:1rem;text-align:center;background:Canvas;color:CanvasText;border-top:1px solid';

/** Tells screen readers a text. If it is shown, all visitors see it until the next one. */
type Announce = (text: string, isShown?: boolean) => void;

/**
 * Does after a navigation what a document load does by itself: focus, announcement, scroll.
 *
 * @param location of the page that is shown
 * @returns a function that also takes the element that had the focus when the navigation began
 */
export function createAfterNavigation(
  { pathname: path, hash }: Commit['location'],
  announce: Announce,
): (commit: Commit, focused: Element | null) => void {
  let { title } = document;
  return function afterNavigation({ location, restoreScrollPosition, preventScrollReset }, focused) {
    const isOtherPage = path !== location.pathname;
    // A form's answer or a search can also replace what the page shows, and with it the focused element.
    const isRetitled = title !== document.title;
    ({ title } = document);
    // A form that stays where it is, below a fragment, must not move the page.
    const isStill = preventScrollReset && !isOtherPage && hash === location.hash;
    ({ pathname: path, hash } = location);
    const target = hash && !isStill ? document.getElementById(decode(hash.slice(1))) : null;
    const active = document.activeElement;
    const isUnset = active === focused || active === document.body;
    // A field that both pages have, such as a search in the layout, keeps the focus, and so does `autoFocus`.
    const isLost = isOtherPage ? isUnset && !isTextField(active) : isRetitled && active === document.body;
    if (target || isLost) moveFocus(target);
    // The title is in the document by then. Without this, a screen reader would not announce the new page.
    if (isOtherPage || isRetitled) announce(title);
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

/** Call it before the first text, because a region that is inserted together with its text is often not read. */
export function createAnnouncer(): Announce {
  const region = document.createElement('div');
  region.id = LIVE_REGION_ID;
  region.role = 'status';
  region.ariaLive = 'assertive';
  region.style.cssText = HIDDEN;
  document.body.append(region);
  return function announce(text, isShown = false) {
    region.style.cssText = isShown ? SHOWN : HIDDEN;
    region.textContent = text;
    // A focused element must not be below the text, also at the end of the page.
    const height = isShown ? `${region.offsetHeight}px` : '';
    Object.assign(document.documentElement.style, { paddingBottom: height, scrollPaddingBottom: height });
    const { activeElement } = document;
    if (isShown && activeElement !== document.body) activeElement?.scrollIntoView({ block: 'nearest' });
  };
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

/** Handles a form after its background post is answered. */
export interface PostedForm {
  /** Whether the form is being sent with the same fields, as by a double click. */
  isSending(submission: Submission, fields: string): boolean;
  /** Call it when the form is sent. `navigation` settles when the router has finished or abandoned it. */
  follow(submission: Submission, fields: string, navigation: Promise<void>): Promise<void>;
  /** Call it when the server has answered: the action accepted or refused the form. */
  onAnswer(isTaken: boolean): void;
  /** Call it before a document shows the answer. */
  onLeave(): void;
  /** Call it when the page shows the answer. */
  onCommit(): void;
}

interface Post extends Submission {
  readonly fields: string;
  /** The focused element when the form was sent. */
  readonly focused: Element | null;
  isTaken: boolean | undefined;
}

/** Follows the form that was posted last. A form that another post or navigation overtakes is left unchanged. */
export function createPostedForm(): PostedForm {
  let last: Post | undefined;
  return {
    isSending({ form, submitter }, fields) {
      return last?.form === form && last.submitter === submitter && last.fields === fields;
    },
    async follow(submission, fields, navigation) {
      const post: Post = { ...submission, fields, focused: document.activeElement, isTaken: undefined };
      last = post;
      await navigation;
      if (post.isTaken === undefined && last === post) last = undefined;
    },
    onAnswer(isTaken) {
      if (last) last.isTaken = isTaken;
    },
    onLeave() {
      if (last?.isTaken) resetTaken(last); // so that the document does not restore what was sent
    },
    onCommit() {
      if (last?.isTaken === undefined) return;
      if (last.isTaken) resetTaken(last);
      else focusRefused(last);
      // A button that is disabled while its form is sent loses the focus.
      const { focused } = last;
      if (document.activeElement === document.body && focused instanceof HTMLElement)
        focused.focus({ preventScroll: true });
      last = undefined;
    },
  };
}

function resetTaken(post: Post): void {
  if (readFormAttribute(post, 'data-reset') !== null) HTMLFormElement.prototype.reset.call(post.form);
}

/** Focuses the first field that was refused, unless the visitor has begun to type elsewhere. */
function focusRefused({ form, focused }: Post): void {
  const active = document.activeElement;
  if (active !== focused && isTextField(active)) return;
  const refused = Element.prototype.querySelector.call(form, '[aria-invalid]:not([aria-invalid="false"])');
  if (refused instanceof HTMLElement) refused.focus();
}

/** Types of `<input>` that are not typed in. */
const NOT_TYPED = new Set([
  'button',
  'checkbox',
  'color',
  'file',
  'hidden',
  'image',
  'radio',
  'range',
  'reset',
  'submit',
]);

/** True for a field that is typed in: if the focus moved elsewhere, the visitor's next letters would be lost. */
function isTextField(element: Element | null): boolean {
  if (element instanceof HTMLInputElement) return !NOT_TYPED.has(element.type);
  return element instanceof HTMLTextAreaElement || (element instanceof HTMLElement && element.isContentEditable);
}
