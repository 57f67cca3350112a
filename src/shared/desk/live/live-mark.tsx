import type { LiveState } from './live-link.ts';
import styles from './live-mark.module.css';

const WORDS: Readonly<Record<LiveState, readonly [words: string, meaning: string]>> = {
  // Without scripts, this state is permanent.
  waiting: ['', ''],
  live: ['Live', 'Changes appear immediately'],
  delayed: ['Delayed', 'This page is not connected. It tries again, and updates, about once a minute'],
  lost: ['Not connected', 'The server does not answer. This page may be outdated'],
};

/** Shows whether the page is up to date. */
export function LiveMark({ state }: { readonly state: LiveState }) {
  const [words, meaning] = WORDS[state];
  return (
    <span className={styles.mark} data-live={state} title={meaning || undefined}>
      {words}
    </span>
  );
}
