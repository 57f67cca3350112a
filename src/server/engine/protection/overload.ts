import { Second } from '../../../shared/units.ts';
import type { RenderLimiter } from './render-limiter.ts';

/**
 * Refused requests: 0 none; 1 prefetches; 2 also pages that are rendered for each request; 3 everything except
 * health, pages for operators, the metrics and files.
 */
export type Level = 0 | 1 | 2 | 3;

export type OverloadReason = 'event-loop' | 'heap' | 'renders' | 'pages';

/** Measurements since the last reading. */
export interface Reading {
  /** The longest delay of the event loop (ms). */
  readonly loopDelayMs: number;
  /** The used share of the maximum heap. */
  readonly heapShare: number;
  /** Monotonic time (ms). */
  readonly at: number;
}

export interface Overload {
  /** At this moment. */
  readonly level: Level;
  /** Undefined if the level is 0. */
  readonly reason: OverloadReason | undefined;
  /** Takes a new reading, a few times a second. */
  take(reading: Reading): void;
}

export interface OverloadOptions {
  /** How long a page's render can wait before new pages are refused (ms). The event loop can be late by twice that. */
  readonly delayMs: number;
  /** Pages that can be in progress at the same time (count). */
  readonly maxPages: number;
  readonly limiter: Pick<RenderLimiter, 'pages' | 'waitMs'>;
}

interface Judged {
  readonly level: Level;
  readonly reason: OverloadReason | undefined;
}

const CALM: Judged = { level: 0, reason: undefined };

/** Where each level begins, as a share of the allowed delay: for the render queue, which is usually short… */
const QUEUE_SHARES = [0.1, 1] as const;
/** … and for the event loop, which other processes on a busy machine can delay too. */
const LOOP_SHARES = [0.4, 2, 8] as const;
const HEAP_SHARES = [0.85, 0.9, 0.95] as const;
/** A level ends below this share of the value that it began at, so that it does not flap. */
const RELEASE = 0.6;
const HEAP_RELEASE = 0.95;
/** Readings in a row that must be calm before a level is lowered by one (count). */
const CALM_READINGS = 2;
/**
 * Share of the last delay that remains: one long block is over within a second, but a loop that is always slow is not.
 */
const MEMORY = 0.5;
/**
 * How long a full heap counts (ms). Garbage is collected while there is work, so refusing everything can keep a heap
 * full. If it stays full anyway, there is a leak, and it is better that the process dies and restarts.
 */
const HEAP_PATIENCE = 10 * Second;

/**
 * Decides what is refused. The render queue and the pages in progress are read on each call. The event loop and the
 * heap are judged by readings, with a memory, and with a lower threshold for leaving a level.
 */
export function createOverload({ delayMs, maxPages, limiter }: OverloadOptions): Overload {
  const loop = createLadder(
    LOOP_SHARES.map((share) => share * delayMs),
    RELEASE,
  );
  const heap = createLadder(HEAP_SHARES, HEAP_RELEASE);
  const queueRungs = QUEUE_SHARES.map((share) => share * delayMs);
  let delay = 0;
  let fullSince: number | undefined;
  let read: Judged = CALM;

  function judgeNow(): Judged {
    const byQueue = climb(queueRungs, limiter.waitMs);
    const byPages: Level = limiter.pages >= maxPages ? 2 : limiter.pages >= maxPages / 2 ? 1 : 0;
    return higher({ level: byQueue, reason: 'renders' }, { level: byPages, reason: 'pages' });
  }

  function current(): Judged {
    // Nothing waits and few pages are in progress, as nearly always.
    if (read === CALM && limiter.waitMs === 0 && limiter.pages < maxPages / 2) return CALM;
    return higher(read, judgeNow());
  }

  return {
    get level() {
      return current().level;
    },
    get reason() {
      const { level, reason } = current();
      return level === 0 ? undefined : reason;
    },
    take({ loopDelayMs, heapShare, at }) {
      delay = Math.max(loopDelayMs, delay * MEMORY);
      const byLoop = loop(delay);
      const byHeap = heap(heapShare);
      if (byHeap === 0) fullSince = undefined;
      else fullSince ??= at;
      const heapCounts = fullSince !== undefined && at - fullSince < HEAP_PATIENCE;
      const judged = higher(
        { level: byLoop, reason: 'event-loop' },
        { level: heapCounts ? byHeap : 0, reason: 'heap' },
      );
      read = judged.level === 0 ? CALM : judged;
    },
  };
}

function higher(one: Judged, other: Judged): Judged {
  return other.level > one.level ? other : one;
}

function climb(rungs: readonly number[], value: number): Level {
  let level: Level = 0;
  for (const rung of rungs) {
    if (value < rung) break;
    level = (level + 1) as Level; // there are three rungs at most
  }
  return level;
}

/** Raises the level immediately, and lowers it one rung at a time after some calm readings. */
function createLadder(rungs: readonly number[], release: number): (value: number) => Level {
  let level: Level = 0;
  let calm = 0;
  return function judge(value) {
    const reached = climb(rungs, value);
    if (reached >= level) {
      calm = 0;
      level = reached;
      return level;
    }
    const holds = value >= (rungs[level - 1] ?? 0) * release;
    calm = holds ? 0 : calm + 1;
    if (calm >= CALM_READINGS) {
      level = (level - 1) as Level; // it was above `reached`, so above 0
      calm = 0;
    }
    return level;
  };
}
