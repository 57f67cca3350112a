import { Minute } from '../../shared/units.ts';
import { createDecoder } from '../../shared/wire/decode.ts';
import type { ActionResult, PagePayload } from '../../shared/wire/payload.ts';
import { shown } from './link-events.ts';

/**
 * Typed input, focus and scroll position of a page, which are kept over a reload, and while an error or the sign-in
 * replaces the page. Never passwords and files.
 */
interface PageState {
  readonly path: string;
  /** When it was kept (ms since 1970). */
  readonly at: number;
  readonly x: number;
  readonly y: number;
  readonly focus: number;
  /** The values are of chosen options, or one. Undefined if the visitor has not changed the field. */
  readonly fields: readonly (readonly [key: string, values: readonly string[] | undefined, checked: boolean])[];
}

const KEY = 'spillway:place';
/** How long to wait for the options of a library's hidden select, which it gets after it is shown (frames). */
const OPTION_FRAMES = 20;
/** How long it is kept (ms). Later, the page can have newer values than the fields. */
const KEPT = 10 * Minute;
const FIELDS = 'input, textarea, select';
const FOCUSABLE = 'a[href], button, input, textarea, select, [tabindex]';

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** Fields that the visitor changed: React gives a field that it controls its value as the default. */
const changed = new WeakSet<EventTarget>();

/** Notes which fields the visitor changes. */
export function watchFields(): void {
  addEventListener('input', ({ target }) => target && changed.add(target), true);
  addEventListener('reset', ({ target }) => {
    for (const field of document.querySelectorAll<Field>(FIELDS)) if (field.form === target) changed.delete(field);
  });
}

/** Call it before the page is left. It keeps nothing if the window already has the URL of another page. */
export function keepPageState(): void {
  const path = toShownPath();
  if (path !== window.location.pathname + window.location.search) return;
  const fields = listFields().map(
    (field) =>
      [toKey(field), isChanged(field) ? toValues(field) : undefined, 'checked' in field && field.checked] as const,
  );
  const state: PageState = {
    path,
    at: Date.now(),
    x: window.scrollX,
    y: window.scrollY,
    focus: [...document.querySelectorAll(FOCUSABLE)].indexOf(document.activeElement as Element),
    fields,
  };
  try {
    sessionStorage.setItem(KEY, JSON.stringify(state));
  } catch {
    // Without storage, the reload loses what was typed.
  }
}

/**
 * Restores the page that is shown, if its fields are there: an error in its place lacks them. Call it once the page is
 * hydrated, so that React sees its fields change.
 */
export function restorePageState(): void {
  const state = readPageState();
  if (state?.path !== toShownPath()) return;
  const fields = listFields();
  const known = new Set(fields.map(toKey));
  if (state.fields.length > 0 && !state.fields.some(([key]) => known.has(key))) return;
  sessionStorage.removeItem(KEY);
  if (Date.now() - state.at > KEPT) return;
  restoreFields(state.fields, OPTION_FRAMES);
  document.querySelectorAll<HTMLElement>(FOCUSABLE)[state.focus]?.focus({ preventScroll: true });
  window.scrollTo(state.x, state.y);
}

function toShownPath(): string {
  const { pathname, search } = new URL(shown.url);
  return pathname + search;
}

function isChanged(field: Field): boolean {
  if (changed.has(field)) return true;
  if (field instanceof HTMLSelectElement)
    return [...field.options].some((option) => option.defaultSelected && !option.selected);
  const isBox = 'checked' in field && BOXES.has(field.type);
  return isBox ? field.checked !== field.defaultChecked : field.value !== field.defaultValue;
}

const RESULT_KEY = 'spillway:result';

/** Keeps what an action returned until the document of another build shows it. @param answer its page data, as sent */
export function keepResult(path: string, answer: string): void {
  try {
    sessionStorage.setItem(RESULT_KEY, JSON.stringify({ path, answer }));
  } catch {
    // Without storage, or with too much data, the page is shown without the result.
  }
}

/** Returns the result that was kept for a page, once. */
export function takeResult({ pathname, search }: Pick<Location, 'pathname' | 'search'>): ActionResult | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(RESULT_KEY) ?? 'null') as { path: string; answer: string } | null;
    sessionStorage.removeItem(RESULT_KEY);
    if (kept?.path !== pathname + search) return undefined;
    return (createDecoder().head(kept.answer) as PagePayload).action;
  } catch {
    return undefined; // the format can be another one
  }
}

function readPageState(): PageState | undefined {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
}

function restoreFields(kept: PageState['fields'], frames: number): void {
  const { url } = shown;
  const fields = listFields();
  const late = kept.map(([key, values, checked]) => {
    const index = fields.findIndex((field) => toKey(field) === key);
    const [field] = index < 0 ? [] : fields.splice(index, 1);
    const isLate = field && values && !restoreField(field, values, checked);
    return [key, isLate ? values : undefined, checked] as const;
  });
  if (frames === 0 || !late.some(([, values]) => values)) return;
  requestAnimationFrame(() => shown.url === url && restoreFields(late, frames - 1));
}

/**
 * Uses the prototype's setter and an event, as if a visitor typed, because React's own setter remembers values that are
 * set on the element. Returns false for a select that has none of the options.
 */
function restoreField(field: Field, values: readonly string[], checked: boolean): boolean {
  const prototype = Object.getPrototypeOf(field) as object;
  const options = field instanceof HTMLSelectElement ? [...field.options] : undefined;
  if (toValues(field).join('\n') !== values.join('\n')) {
    if (options && values.length > 0 && !options.some(({ value }) => values.includes(value))) return false;
    for (const option of options ?? []) option.selected = values.includes(option.value);
    if (!options) Object.getOwnPropertyDescriptor(prototype, 'value')?.set?.call(field, values[0]);
    field.dispatchEvent(new Event(options ? 'change' : 'input', { bubbles: true }));
  }
  if ('checked' in field && field.checked !== checked) toControl(field).click();
  return true;
}

/** Returns what a visitor clicks: libraries show a button before a hidden box, which follows it. */
function toControl(field: HTMLInputElement): HTMLElement {
  const before = field.previousElementSibling;
  const isButton = field.ariaHidden === 'true' && before instanceof HTMLButtonElement && before.type === 'button';
  return isButton && BUTTONS.has(before.role ?? '') ? before : field;
}

function toValues(field: Field): string[] {
  if (!(field instanceof HTMLSelectElement)) return [field.value];
  return [...field.selectedOptions].map(({ value }) => value);
}

function listFields(): Field[] {
  return [...document.querySelectorAll<Field>(FIELDS)].filter(
    ({ type, autocomplete }) => !NOT_KEPT.has(type) && !/password|one-time|cc-/.test(autocomplete),
  );
}

const BOXES = new Set(['checkbox', 'radio']);
const BUTTONS = new Set(['checkbox', 'radio', 'switch']);

const NOT_KEPT = new Set(['file', 'password', 'hidden', 'submit', 'button', 'image', 'reset']);

/** Finds a field again on the page of another build. Boxes of the same name differ by their values. */
function toKey({ name, type, value }: Field): string {
  return `${name} ${BOXES.has(type) ? value : ''}`;
}
