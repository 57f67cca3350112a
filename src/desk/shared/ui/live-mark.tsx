import { useEffect, useState } from 'react';
import { useRefresh } from '#engine';
import { Second } from '../../../shared/units.ts';
import { LIVE_EVENT, LIVE_PATH } from '../live.ts';
import styles from './live-mark.module.css';

/** Without scripts, `waiting` is permanent. */
type LiveState = 'waiting' | 'live' | 'lost';

const WORDS: Readonly<Record<LiveState, readonly [words: string, meaning: string]>> = {
  waiting: ['', ''],
  live: ['Live', 'Changes appear within seconds'],
  lost: ['Not connected', 'The server does not answer. This page may be outdated'],
};

/** Shortest time between two requests (ms). People cannot read numbers that change faster. */
const SHORTEST_GAP = 2 * Second;
/** Wait before the next stream, if the server refused one (ms). Browsers retry broken streams by themselves. */
const REOPEN_AFTER = 15 * Second;

/** Keeps the page up to date while it is visible, and shows whether it is. */
export function LiveMark() {
  const refresh = useRefresh();
  const [state, setState] = useState<LiveState>('waiting');
  useEffect(() => followChanges(refresh, setState), [refresh]);
  const [words, meaning] = WORDS[state];
  return (
    <span aria-live="polite" className={styles.mark} data-live={state} title={meaning || undefined}>
      {words}
    </span>
  );
}

/**
 * Requests the page's data after each event of the stream, and if the server refuses one. The first event arrives with the
 * connection, so a page that was hidden or disconnected misses nothing.
 *
 * @returns a function that stops it
 */
function followChanges(refresh: () => Promise<boolean>, onState: (state: LiveState) => void): () => void {
  let stream: EventSource | undefined;
  let reopening: ReturnType<typeof setTimeout> | undefined;
  let isDue = false;
  let isLoading = false;

  /** Sends one request at a time. Several events during a request lead to one more. */
  async function load(): Promise<void> {
    isDue = true;
    if (isLoading) return;
    isLoading = true;
    while (isDue) {
      isDue = false;
      const isFresh = await refresh().catch(() => false);
      isDue ||= !isFresh && stream !== undefined;
      await new Promise((resolve) => setTimeout(resolve, SHORTEST_GAP));
    }
    isLoading = false;
  }

  function open(): void {
    const opened = new EventSource(LIVE_PATH);
    stream = opened;
    opened.addEventListener(LIVE_EVENT, () => {
      onState('live');
      void load();
    });
    opened.addEventListener('error', () => {
      onState('lost');
      if (opened.readyState !== EventSource.CLOSED) return;
      // A page whose session has ended thus asks to sign in, and one that gets no stream is updated with each attempt.
      void load();
      reopening = setTimeout(open, REOPEN_AFTER);
    });
  }

  function close(): void {
    clearTimeout(reopening);
    stream?.close();
    stream = undefined;
    isDue = false;
  }

  function followVisibility(): void {
    close();
    if (document.visibilityState === 'visible') open();
  }

  followVisibility();
  document.addEventListener('visibilitychange', followVisibility);
  return () => {
    document.removeEventListener('visibilitychange', followVisibility);
    close();
  };
}
