import type { LiveState } from './live-link.ts';
import styles from './live-mark.module.css';

const WORDS: Readonly<Record<LiveState, readonly [words: string, meaning: string]>> = {
  // Without scripts it stays so.
  waiting: ['', ''],
  live: ['Live', 'What changes appears at once'],
  polling: ['Every 15 s', 'News does not get through to this page at once: it looks by itself every 15 seconds'],
  lost: ['Not connected', 'The server does not answer: what is shown may be old'],
};

/** Whether what is shown is of this moment. */
export function LiveMark({ state }: { readonly state: LiveState }) {
  const [words, meaning] = WORDS[state];
  return (
    <span className={styles.mark} data-live={state} title={meaning || undefined}>
      {words}
    </span>
  );
}
