import { Second } from '../../units.ts';
import { LIVE_CHANGES, LIVE_PING } from './live-protocol.ts';

/** Whether a page hears of changes at once, looks by itself from time to time, or reaches nobody. */
export type LiveState = 'waiting' | 'live' | 'polling' | 'lost';

/** Of the browser's `EventSource`, what is used. */
export type LiveSource = Pick<EventSource, 'readyState' | 'addEventListener' | 'close'>;

export interface LiveLinkOptions {
  readonly open: () => LiveSource;
  /** Brings the page's data anew where it has changed; false where it could not be told. May reject. */
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
/** Of the time for which a page waits for answers, at most a tenth: a store in trouble is asked less. */
const REST = 9;
/** Where nothing answers (ms). */
const LONGEST_GAP = 30 * Second;
/** Where there is no stream (ms). */
const POLL_INTERVAL = 15 * Second;
/** What opens but says nothing is held back by something in between (ms). */
const FIRST_WORD_PATIENCE = 5 * Second;
/** Two pings were missed (ms). */
const SILENCE_PATIENCE = 45 * Second;
/** After a stream was refused or fell silent, another one is tried (ms, and up to half of it more). */
const REOPEN_AFTER = 60 * Second;
/** `EventSource.CLOSED`: it does not come back by itself. */
const CLOSED = 2;

/** Keeps a page up to date: by a stream that says when to ask, or by asking from time to time where none gets through. */
export function createLiveLink({ open, refresh, onState }: LiveLinkOptions): LiveLink {
  let source: LiveSource | undefined;
  let isRunning = false;
  let isHearing = false;
  let hasHeard = false;
  let failures = 0;
  let patience: Timer;
  let poll: Timer;
  let reopen: Timer;

  const asker = createAsker(async () => {
    const isTold = await refresh().catch(() => false);
    failures = isTold ? 0 : failures + 1;
    tell();
    return isTold;
  });

  function tell(): void {
    if (isRunning) onState(failures > 1 ? 'lost' : isHearing ? 'live' : 'polling');
  }

  function connect(): void {
    clearTimeout(reopen);
    const own = open();
    source = own;
    waitForWord(FIRST_WORD_PATIENCE);
    own.addEventListener(LIVE_PING, () => hear());
    own.addEventListener(LIVE_CHANGES, () => {
      hear();
      asker.ask();
    });
    own.addEventListener('error', () => {
      if (source !== own) return;
      if (own.readyState === CLOSED) beRefused();
      else if (isHearing) loseTouch();
    });
  }

  function hear(): void {
    if (!source) return;
    waitForWord(SILENCE_PATIENCE);
    if (isHearing) return;
    isHearing = true;
    hasHeard = true;
    clearTimeout(poll);
    tell();
    // What changed until now was told to nobody.
    asker.ask();
  }

  /** Who was let in before is asked to sign in by the answer to the next question. */
  function beRefused(): void {
    fall();
    if (hasHeard) asker.ask();
    hasHeard = false;
  }

  /** The browser comes again by itself, soon. */
  function loseTouch(): void {
    isHearing = false;
    waitForWord(FIRST_WORD_PATIENCE + FIRST_WORD_PATIENCE);
    lookByItself();
  }

  function waitForWord(ms: number): void {
    clearTimeout(patience);
    patience = setTimeout(fall, ms);
  }

  function fall(): void {
    source?.close();
    source = undefined;
    isHearing = false;
    clearTimeout(patience);
    reopen = setTimeout(connect, REOPEN_AFTER * (1 + Math.random() / 2));
    lookByItself();
    tell();
  }

  function lookByItself(): void {
    clearTimeout(poll);
    poll = setTimeout(() => {
      asker.ask();
      lookByItself();
    }, POLL_INTERVAL);
  }

  return {
    start() {
      if (isRunning) return;
      isRunning = true;
      asker.start();
      connect();
    },
    stop() {
      isRunning = false;
      isHearing = false;
      failures = 0;
      source?.close();
      source = undefined;
      asker.stop();
      for (const timer of [patience, poll, reopen]) clearTimeout(timer);
    },
  };
}

type Timer = ReturnType<typeof setTimeout> | undefined;

/** Asks one question at a time, with a rest between them; what is due meanwhile is asked once. */
function createAsker(question: () => Promise<boolean>) {
  let isRunning = false;
  let isAsking = false;
  let isDue = false;
  let gap = 0;
  let timer: Timer;

  function goOn(): void {
    if (!isRunning || !isDue || isAsking || timer) return;
    isDue = false;
    void run();
  }

  async function run(): Promise<void> {
    isAsking = true;
    const startedAt = performance.now();
    const isTold = await question();
    isAsking = false;
    gap = isTold
      ? Math.max(SHORTEST_GAP, REST * (performance.now() - startedAt))
      : Math.min(LONGEST_GAP, 2 * Math.max(gap, SHORTEST_GAP / 2));
    isDue ||= !isTold;
    if (!isRunning) return;
    timer = setTimeout(() => {
      timer = undefined;
      goOn();
    }, gap);
  }

  return {
    start() {
      isRunning = true;
    },
    ask() {
      isDue = true;
      goOn();
    },
    stop() {
      isRunning = false;
      isDue = false;
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
