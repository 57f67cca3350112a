import { Second } from '../../../shared/units.ts';
import type { RenderLimiter } from './render-limiter.ts';

/**
 * What is refused: 0 nothing; 1 prefetches; 2 pages that are rendered for each request too; 3 all but
 * health, the desk, the metrics and files.
 */
export type Level = 0 | 1 | 2 | 3;

export type OverloadReason = 'event-loop' | 'heap' | 'renders' | 'pages';

/** What was measured since the last time. */
export interface Reading {
  /** The longest that the event loop was late (ms). */
  readonly loopDelayMs: number;
  /** Of the heap that there may be (a share). */
  readonly heapShare: number;
  /** Milliseconds, monotonic. */
  readonly at: number;
}

export interface Overload {
  /** As of this moment. */
  readonly level: Level;
  /** Why, where the level is not 0. */
  readonly reason: OverloadReason | undefined;
  /** Takes a new reading: a few a second. */
  take(reading: Reading): void;
}

export interface OverloadOptions {
  /** How long a page's render may wait before new pages are refused (ms); the event loop may be late twice that. */
  readonly delayMs: number;
  /** Pages that may be in progress at once (a count). */
  readonly maxPages: number;
  readonly limiter: Pick<RenderLimiter, 'pages' | 'waitMs'>;
}

interface Judged {
  readonly level: Level;
  readonly reason: OverloadReason | undefined;
}

const CALM: Judged = { level: 0, reason: undefined };

/** Where each level begins, as a share of the delay that is allowed: of the render queue, which is short as long as all is well … */
const QUEUE_SHARES = [0.1, 1] as const;
/** … and of the event loop, which a busy machine alone can make late. */
const LOOP_SHARES = [0.4, 2, 8] as const;
const HEAP_SHARES = [0.85, 0.9, 0.95] as const;
/** A level ends below this share of what it began at, so that it does not come and go. */
const RELEASE = 0.6;
const HEAP_RELEASE = 0.95;
/** Readings in a row that must be calm before a level is lowered by one (a count). */
const CALM_READINGS = 2;
/** How much of the last delay counts on: one long block is over within a second, a loop that limps is not (a share). */
const MEMORY = 0.5;
/**
 * How long a full heap counts (ms). Garbage is collected where there is work, so refusing all of it can
 * keep a heap full; and what stays full all the same leaks, and is better ended and begun anew.
 */
const HEAP_PATIENCE = 10 * Second;

/**
 * Decides what is refused. The render queue and the pages in progress are looked at in the moment of
 * asking; the event loop and the heap by readings, with a memory and a lower bound to leave by.
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
    // Nothing waits and little is under way, as nearly always.
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

/** Goes up at once and down one rung at a time, after some calm readings. */
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
      level = (level - 1) as Level; // it was above the one that is reached, so above 0
      calm = 0;
    }
    return level;
  };
}
