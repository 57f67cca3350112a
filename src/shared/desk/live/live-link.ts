import { Second } from '../../units.ts';
import { LIVE_CHANGES, LIVE_PING } from './live-protocol.ts';

/** Whether a page hears of changes at once, only each time that it tries to connect, or gets no answer at all. */
export type LiveState = 'waiting' | 'live' | 'delayed' | 'lost';

/** Of the browser's `EventSource`, what is used. */
export type LiveSource = Pick<EventSource, 'readyState' | 'addEventListener' | 'close'>;

export interface LiveLinkOptions {
  readonly open: () => LiveSource;
  /** Fetches the page's data again if it has changed; false if there was no answer. May reject. */
  readonly refresh: () => Promise<boolean>;
  readonly onState: (state: LiveState) => void;
}

export interface LiveLink {
  /** Somebody looks at the page. */
  start(): void;
  /** Nobody does: no stream is held, and nothing is asked. */
  stop(): void;
}

/** Between two questions (ms), however much changes: numbers that change faster are not read. */
const SHORTEST_GAP = 2 * Second;
/** After a question without an answer (ms). */
const RETRY_GAP = 10 * Second;
/** A page rests at least this many times as long as the answer took, so that a slow store is asked less. */
const REST = 9;
/** A stream that opens but says nothing for this long is held back by a proxy (ms). */
const FIRST_EVENT_PATIENCE = 5 * Second;
/** Two pings were missed (ms). */
const SILENCE_PATIENCE = 45 * Second;
/** Until another stream is tried after one was refused or fell silent (ms, and up to half of it more). */
const RECONNECT_AFTER = 60 * Second;
/** `EventSource.CLOSED`: it does not reconnect by itself. */
const CLOSED = 2;

/**
 * Keeps a page up to date by a stream that says when to ask. What changed without a stream was told to
 * nobody, so the page also asks once for each stream: at its first event, or when the page gives it up.
 */
export function createLiveLink({ open, refresh, onState }: LiveLinkOptions): LiveLink {
  let isRunning = false;
  let source: LiveSource | undefined;
  let isHearing = false;
  /** For the next event, or for the next stream. */
  let waiting: ReturnType<typeof setTimeout> | undefined;
  let isDue = false;
  let isAsking = false;
  let failures = 0;

  function connect(): void {
    const stream = open();
    source = stream;
    wait(FIRST_EVENT_PATIENCE, giveUp);
    stream.addEventListener(LIVE_PING, hear);
    stream.addEventListener(LIVE_CHANGES, () => {
      hear();
      void ask();
    });
    stream.addEventListener('error', () => {
      if (stream.readyState === CLOSED) giveUp();
      else if (isHearing) {
        // The browser reconnects by itself within a few seconds.
        isHearing = false;
        wait(2 * FIRST_EVENT_PATIENCE, giveUp);
      }
    });
  }

  function hear(): void {
    wait(SILENCE_PATIENCE, giveUp);
    if (isHearing) return;
    isHearing = true;
    tell();
    void ask();
  }

  function giveUp(): void {
    source?.close();
    isHearing = false;
    wait(RECONNECT_AFTER * (1 + Math.random() / 2), connect);
    tell();
    void ask();
  }

  function wait(ms: number, then: () => void): void {
    clearTimeout(waiting);
    waiting = setTimeout(then, ms);
  }

  function tell(): void {
    if (isRunning) onState(failures > 1 ? 'lost' : isHearing ? 'live' : 'delayed');
  }

  /** One question at a time, with a rest after it; what is due meanwhile is asked once. */
  async function ask(): Promise<void> {
    isDue = true;
    if (isAsking) return;
    isAsking = true;
    while (isDue) {
      isDue = false;
      const startedAt = performance.now();
      const isAnswered = await refresh().catch(() => false);
      failures = isAnswered ? 0 : failures + 1;
      tell();
      isDue ||= isRunning && !isAnswered;
      const gap = Math.max(isAnswered ? SHORTEST_GAP : RETRY_GAP, REST * (performance.now() - startedAt));
      await new Promise((resolve) => setTimeout(resolve, gap));
    }
    isAsking = false;
  }

  return {
    start() {
      if (isRunning) return;
      isRunning = true;
      connect();
    },
    stop() {
      isRunning = false;
      isHearing = false;
      isDue = false;
      failures = 0;
      clearTimeout(waiting);
      source?.close();
    },
  };
}
