/** Typed input, focus and scroll position of a page, which are kept over a reload. */
interface Place {
  readonly path: string;
  readonly x: number;
  readonly y: number;
  readonly focus: number;
  readonly fields: readonly (readonly [index: number, value: string, checked: boolean])[];
}

const KEY = 'spillway:place';
const FIELDS = 'input, textarea, select';
const FOCUSABLE = 'a[href], button, input, textarea, select, [tabindex]';

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

export function keepPlace(): void {
  const fields = listFields().flatMap((field, index) =>
    isKept(field) ? [[index, field.value, 'checked' in field && field.checked] as const] : [],
  );
  const place: Place = {
    path: window.location.pathname + window.location.search,
    x: window.scrollX,
    y: window.scrollY,
    focus: [...document.querySelectorAll(FOCUSABLE)].indexOf(document.activeElement as Element),
    fields,
  };
  sessionStorage.setItem(KEY, JSON.stringify(place));
}

/** Call it once the page is hydrated: before that, React would see fields that differ from its render. */
export function restorePlace(): void {
  const text = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  if (!text) return;
  const place = JSON.parse(text) as Place;
  if (place.path !== window.location.pathname + window.location.search) return;
  const fields = listFields();
  for (const [index, value, checked] of place.fields) {
    const field = fields[index];
    if (field && isKept(field)) restoreField(field, value, checked);
  }
  document.querySelectorAll<HTMLElement>(FOCUSABLE)[place.focus]?.focus({ preventScroll: true });
  window.scrollTo(place.x, place.y);
}

/**
 * Uses the prototype's setter and an event, as if a visitor typed, because React's own setter remembers values that are
 * set on the element.
 */
function restoreField(field: Field, value: string, checked: boolean): void {
  const prototype = Object.getPrototypeOf(field) as object;
  if (field.value !== value) {
    Object.getOwnPropertyDescriptor(prototype, 'value')?.set?.call(field, value);
    field.dispatchEvent(new Event(field instanceof HTMLSelectElement ? 'change' : 'input', { bubbles: true }));
  }
  if ('checked' in field && field.checked !== checked) field.click();
}

function listFields(): Field[] {
  return [...document.querySelectorAll<Field>(FIELDS)];
}

function isKept(field: Field): boolean {
  return !['file', 'hidden', 'submit', 'button', 'image', 'reset'].includes(field.type);
}
