import { Second } from '../../units.ts';
import { LIVE_CHANGES, LIVE_PING } from './live-protocol.ts';

/** Whether changes arrive immediately, only with each attempt to connect, or not at all. */
export type LiveState = 'waiting' | 'live' | 'delayed' | 'lost';

/** The parts of `EventSource` that are used. */
export type LiveSource = Pick<EventSource, 'readyState' | 'addEventListener' | 'close'>;

export interface LiveLinkOptions {
  readonly open: () => LiveSource;
  /** Fetches the page's data again if it has changed; false if there was no answer. Can reject. */
  readonly refresh: () => Promise<boolean>;
  readonly onState: (state: LiveState) => void;
}

export interface LiveLink {
  /** Call it when the page becomes visible. */
  start(): void;
  /** Call it when the page is hidden. Closes the stream and stops requests. */
  stop(): void;
}

/** Shortest time between two requests (ms). People cannot read numbers that change faster. */
const SHORTEST_GAP = 2 * Second;
/** Wait after a request without an answer (ms). */
const RETRY_GAP = 10 * Second;
/** The wait is at least this many times as long as the answer took, to spare a slow store. */
const REST = 9;
/** If a stream opens but sends nothing for this long, a proxy buffers it (ms). */
const FIRST_EVENT_PATIENCE = 5 * Second;
/** Two missed pings (ms). */
const SILENCE_PATIENCE = 45 * Second;
/** Wait before the next stream, after one was refused or fell silent (ms, plus up to half of it). */
const RECONNECT_AFTER = 60 * Second;
/** `EventSource.CLOSED`: the browser does not reconnect by itself. */
const CLOSED = 2;

/**
 * Keeps a page up to date: a stream notifies it when to request its data. Without a stream, the page misses changes.
 * Therefore it also requests its data once per stream: at the first event, or when it gives the stream up.
 */
export function createLiveLink({ open, refresh, onState }: LiveLinkOptions): LiveLink {
  let isRunning = false;
  let source: LiveSource | undefined;
  let isHearing = false;
  /** Timer for the next event or the next stream. */
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

  /** Sends one request at a time, with a pause after it. Several calls during that time lead to one more request. */
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
