import { type RefObject, useEffect, useRef, useState } from 'react';
import { Pairs } from '../../ui/panel.tsx';
import styles from './list-keys.module.css';

/**
 * Adds keyboard shortcuts to a list: `j` and `k` move down and up, `x` selects, `e` and `i` press the button with the key
 * in `data-key`, `/` focuses the search, and `?` shows all shortcuts. Enter opens an incident
 * without a shortcut, because the focus is on a link.
 */
export function useListKeys(list: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const place: Place = {};
    function handleKey(event: KeyboardEvent): void {
      const root = list.current;
      if (!root || event.defaultPrevented || hasModifier(event) || isTyping(event.target) || !areKeysOn()) return;
      const handle = KEYS[event.key];
      if (handle?.(root, place)) event.preventDefault();
    }
    addEventListener('keydown', handleKey);
    return () => removeEventListener('keydown', handleKey);
  }, [list]);
}

const OFF = 'desk:keys-off';

function areKeysOn(): boolean {
  try {
    return localStorage.getItem(OFF) === null;
  } catch {
    return true; // Without storage, they cannot be switched off.
  }
}

function switchKeys(isOn: boolean): void {
  try {
    if (isOn) localStorage.removeItem(OFF);
    else localStorage.setItem(OFF, '');
  } catch {}
}

interface Place {
  /** The number of rows above the one that had the focus when an action was sent, which can remove it. */
  above?: number | undefined;
  /** The key of the last action. Until its answer arrives, the rows that it applied to stay ticked. */
  pressed?: string | undefined;
}

/** Each returns whether it did something. */
const KEYS: Readonly<Record<string, ((root: HTMLElement, place: Place) => boolean) | undefined>> = {
  j: (root, place) => step(root, place, 1),
  k: (root, place) => step(root, place, -1),
  x: (root, place) => tick(root, place),
  e: (root, place) => press(root, place, 'e'),
  i: (root, place) => press(root, place, 'i'),
  '/': (root) => focusSearch(root),
  '?': (root) => showHelp(root),
};

function step(root: HTMLElement, place: Place, by: 1 | -1): boolean {
  const rows = listRows(root);
  const at = rows.findIndex(hasFocus);
  const above = Math.min(place.above ?? (by === 1 ? 0 : rows.length), rows.length);
  const next = rows[at === -1 ? above + Math.min(by, 0) : at + by];
  next?.querySelector<HTMLElement>('[data-open]')?.focus();
  if (next) place.above = undefined;
  return next !== undefined;
}

function tick(root: HTMLElement, place: Place): boolean {
  const box = findFocusedBox(root);
  box?.click();
  place.pressed = undefined;
  return Boolean(box);
}

function findFocusedBox(root: HTMLElement): HTMLInputElement | null | undefined {
  return listRows(root).find(hasFocus)?.querySelector('input[name="digest"]');
}

/**
 * Without a selection, the action applies to the focused row. If the same action is pressed again before it is answered,
 * it applies to both rows, because the second form replaces the first one.
 */
function press(root: HTMLElement, place: Place, key: string): boolean {
  const button = root.querySelector<HTMLButtonElement>(`button[data-key="${key}"]`);
  if (!button) return false;
  const ticked = [...root.querySelectorAll<HTMLInputElement>('input[name="digest"]:checked')];
  const isUnanswered = ticked.length > 0 && place.pressed !== undefined;
  if (isUnanswered && place.pressed !== key) for (const box of ticked) box.click();
  if (ticked.length === 0 || isUnanswered) {
    const box = findFocusedBox(root);
    if (!box) return false;
    if (!box.checked) box.click();
  }
  place.pressed = key;
  const at = listRows(root).findIndex(hasFocus);
  place.above = at === -1 ? undefined : at;
  button.click();
  return true;
}

function listRows(root: HTMLElement): HTMLElement[] {
  return [...root.querySelectorAll<HTMLElement>('[data-row]')];
}

function hasFocus(row: HTMLElement): boolean {
  return row.contains(document.activeElement);
}

/** The search field is in the header, outside of the list. */
function focusSearch(root: HTMLElement): boolean {
  const field = root.ownerDocument.querySelector<HTMLInputElement>('input[type="search"]');
  field?.focus();
  field?.select();
  return field !== null;
}

function showHelp(root: HTMLElement): boolean {
  const dialog = root.querySelector('dialog');
  dialog?.showModal();
  return dialog !== null;
}

function hasModifier(event: KeyboardEvent): boolean {
  return event.ctrlKey || event.metaKey || event.altKey;
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input:not([type="checkbox"]), textarea, select, dialog') !== null;
}

const HELP = [
  ['j', 'the next incident'],
  ['k', 'the previous incident'],
  ['Enter', 'open it'],
  ['/', 'search'],
  ['?', 'these keys'],
] as const;

const CHANGE_HELP = [
  ['x', 'select it'],
  ['e', 'resolve it, or all selected ones'],
  ['i', 'ignore it, or all selected ones'],
] as const;

/**
 * Help for the list's keyboard shortcuts. They can be switched off, because speech input can press them by mistake. Like
 * the shortcuts, the button needs scripts.
 */
export function KeyHelp({ canChange }: { readonly canChange: boolean }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isOn, setOn] = useState(true);
  useEffect(() => setOn(areKeysOn()), []);
  const keys = canChange ? [...HELP.slice(0, 3), ...CHANGE_HELP, ...HELP.slice(3)] : HELP;
  return (
    <>
      <button type="button" className={styles.open} onClick={() => dialog.current?.showModal()}>
        Keys <kbd>?</kbd>
      </button>
      <dialog ref={dialog} className={styles.dialog} aria-label="Keys">
        <Pairs of={keys.map(([key, words]) => [key, words])} />
        <label className={styles.switch}>
          <input
            type="checkbox"
            checked={isOn}
            onChange={({ target }) => {
              switchKeys(target.checked);
              setOn(areKeysOn());
            }}
          />{' '}
          Use these keys
        </label>
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      </dialog>
    </>
  );
}
