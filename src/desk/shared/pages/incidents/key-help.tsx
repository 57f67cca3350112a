import { useRef } from 'react';
import { Pairs } from '../../ui/panel.tsx';
import styles from './key-help.module.css';

const KEYS = [
  ['j', 'the next incident'],
  ['k', 'the previous incident'],
  ['Enter', 'open it'],
  ['/', 'search'],
  ['?', 'these keys'],
] as const;

const CHANGES = [
  ['x', 'select it'],
  ['e', 'resolve it, or all selected ones'],
  ['i', 'ignore it, or all selected ones'],
] as const;

/** Help for the list's keyboard shortcuts. Like the shortcuts, the button needs scripts. */
export function KeyHelp({ canChange }: { readonly canChange: boolean }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const keys = canChange ? [...KEYS.slice(0, 3), ...CHANGES, ...KEYS.slice(3)] : KEYS;
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
