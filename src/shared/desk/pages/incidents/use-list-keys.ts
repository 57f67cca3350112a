import { type RefObject, useEffect } from 'react';

/**
 * Keys of a list: `j` and `k` go down and up, `x` ticks, `e` and `i` press the button that has the key
 * in `data-key`, `n` shows what came in meanwhile, `/` leads to the search, `?` shows them all. Enter opens by itself, because the focus
 * is on a link.
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

/** Each says whether there was something to do. */
const KEYS: Readonly<Record<string, ((root: HTMLElement) => boolean) | undefined>> = {
  j: (root) => step(root, 1),
  k: (root) => step(root, -1),
  x: (root) => tick(root),
  e: (root) => press(root, 'e'),
  i: (root) => press(root, 'i'),
  n: (root) => showNews(root),
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

/** Without a tick the row with the focus is meant. */
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

function showNews(root: HTMLElement): boolean {
  const button = root.querySelector<HTMLButtonElement>('[data-news]');
  button?.click();
  return Boolean(button);
}

/** It stands in the header, outside of the list. */
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
