import { type RefObject, useEffect, useRef } from 'react';
import { Pairs } from '../../ui/panel.tsx';
import styles from './list-keys.module.css';

/**
 * Adds keyboard shortcuts to a list: `j` and `k` move down and up, `x` selects, `e` and `i` press the button with the key
 * in `data-key`, `/` focuses the search, and `?` shows all shortcuts. Enter opens an incident
 * without a shortcut, because the focus is on a link.
 */
export function useListKeys(list: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    function handleKey(event: KeyboardEvent): void {
      const root = list.current;
      if (!root || event.defaultPrevented || hasModifier(event) || isTyping(event.target)) return;
      const handle = KEYS[event.key];
      if (handle?.(root)) event.preventDefault();
    }
    addEventListener('keydown', handleKey);
    return () => removeEventListener('keydown', handleKey);
  }, [list]);
}

/** Each returns whether it did something. */
const KEYS: Readonly<Record<string, ((root: HTMLElement) => boolean) | undefined>> = {
  j: (root) => step(root, 1),
  k: (root) => step(root, -1),
  x: (root) => tick(root),
  e: (root) => press(root, 'e'),
  i: (root) => press(root, 'i'),
  '/': (root) => focusSearch(root),
  '?': (root) => showHelp(root),
};

function step(root: HTMLElement, by: 1 | -1): boolean {
  const links = [...root.querySelectorAll<HTMLElement>('[data-open]')];
  const at = links.findIndex((link) => link.closest('[data-row]')?.contains(document.activeElement));
  const next = at === -1 ? (by === 1 ? 0 : links.length - 1) : at + by;
  links[next]?.focus();
  return links[next] !== undefined;
}

function tick(root: HTMLElement): boolean {
  const box = findRow(root)?.querySelector<HTMLInputElement>('input[name="digest"]');
  box?.click();
  return Boolean(box);
}

/** Without a selection, the action applies to the focused row. */
function press(root: HTMLElement, key: string): boolean {
  const button = root.querySelector<HTMLButtonElement>(`button[data-key="${key}"]`);
  if (!button) return false;
  const isTicked = root.querySelector('input[name="digest"]:checked') !== null;
  if (!isTicked && !tick(root)) return false;
  button.click();
  return true;
}

function findRow(root: HTMLElement): HTMLElement | undefined {
  return [...root.querySelectorAll<HTMLElement>('[data-row]')].find((row) => row.contains(document.activeElement));
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

/** Help for the list's keyboard shortcuts. Like the shortcuts, the button needs scripts. */
export function KeyHelp({ canChange }: { readonly canChange: boolean }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const keys = canChange ? [...HELP.slice(0, 3), ...CHANGE_HELP, ...HELP.slice(3)] : HELP;
  return (
    <>
      <button type="button" className={styles.open} onClick={() => dialog.current?.showModal()}>
        Keys <kbd>?</kbd>
      </button>
      <dialog ref={dialog} className={styles.dialog} aria-label="Keys">
        <Pairs of={keys.map(([key, words]) => [key, words])} />
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      </dialog>
    </>
  );
}
