import { AsyncLocalStorage } from 'node:async_hooks';
import { VisitorGone } from '../errors/visitor-gone.ts';

/** Whoever waits for a render. */
export interface Waiting {
  /** `VisitorGone` when nobody wants it any more. */
  readonly endedBy: Error | undefined;
}

/** Lets pages render in the order in which they came, and knows how far behind it is. */
export interface RenderLimiter {
  /** Pages that were begun and have not sent their shell yet (a count). */
  readonly pages: number;
  /** Those of them that wait for their turn (a count). */
  readonly queued: number;
  /** How long a render that came now would wait, as far as can be told (ms). */
  readonly waitMs: number;
  /** A page begins. @returns to be called once, when its shell is sent or it is given up */
  enter(): () => void;
  /** A connection was taken in: more may stand behind it. */
  noteConnection(): void;
  /**
   * Waits until renders are due; undefined where they are now.
   *
   * @param mayRefuse false for what must be answered, such as a form whose action has run
   * @returns false where it was refused, or nobody wants it any more
   */
  acquire(waiting: Waiting, mayRefuse: boolean): Promise<boolean> | undefined;
}

export interface RenderLimiterOptions {
  /** The longest that a page that may be refused waits (ms); without it none is. */
  readonly maxWaitMs?: number | undefined;
  /** Told of each refusal. */
  readonly onRefuse?: () => void;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
  /** Calls back in the next turn of the event loop. */
  readonly onNextTurn?: (callback: () => void) => void;
}

interface Place {
  readonly waiting: Waiting;
  readonly mayRefuse: boolean;
  readonly since: number;
  readonly resolve: (isFree: boolean) => void;
}

/** How much the latest step counts in the average (a share): one long one, as when garbage is collected, is none of many. */
const WEIGHT = 0.02;

/**
 * For how long pages are rendered in one turn of the event loop, the last one to its end (ms). A page
 * that waits keeps all that was loaded for it in memory, past collections of the young generation: with
 * one page a turn, a server whose 32 connections were busy spent a fifth of its time on that.
 */
const SLICE = 50;
/** The most that are taken from the queue in one turn: more is no work for a slice (a count). */
const MAX_STEPS = 64;
/** From which part of the longest wait on there is one render a turn, and turns for others (a share). */
const CROWDED = 0.2;
/**
 * Turns of the loop without a render that others have then for each one (a count), as long as all of
 * them take no longer than the slice did. A turn takes in one new connection alone (libuv), so with
 * renders in each, more would come than are even told to wait.
 */
const TURNS_FOR_OTHERS = 7;

/**
 * React renders a page in one piece, so of many that come at once all would wait for all. Here pages
 * are rendered in slices, in the order in which they came, and what else there is to do (probes, small
 * answers, bodies that come in, new connections) goes on between them.
 */
export function createRenderLimiter(options: RenderLimiterOptions = {}): RenderLimiter {
  const { maxWaitMs = Number.POSITIVE_INFINITY, onRefuse, now: readClock = () => performance.now() } = options;
  const onNextTurn: (callback: () => void) => void = options.onNextTurn ?? setImmediate;
  /** The next turn belongs to no visitor: it must not keep one's request in memory. */
  const asNobody = AsyncLocalStorage.snapshot();
  let pages = 0;
  /** The queue begins at `head`. Earlier places are removed now and then. */
  let queue: Place[] = [];
  let head = 0;
  /** `open` is called in the next turn. */
  let isWatching = false;
  /** When this slice began and until when it may begin renders (ms): 0 in turns for others. */
  let sliceBegan = 0;
  let sliceEnd = 0;
  /** Renders that this slice has begun, and that the one before it had (counts). */
  let begun = 0;
  let begunBefore = 0;
  /** Calls of `step` that are due in the next turn (a count). */
  let steps = 0;
  /** Turns that others have before the next slice, and when their time is over (ms). */
  let turnsForOthers = 0;
  let othersUntil = 0;
  let hasNewConnection = false;
  let isCrowded = false;
  /** From one render to the next while there is a queue (ms): it, and all that happened beside it. */
  let stepMs = 0;

  function countQueued(): number {
    return queue.length - head;
  }

  function readWait(): number {
    const oldest = queue[head];
    return oldest ? Math.max(readClock() - oldest.since, countQueued() * stepMs) : 0;
  }

  /** The first of each turn. */
  function open(): void {
    const now = readClock();
    if (begun > 0) endSlice(now);
    const areOthersWaiting = isCrowded || hasNewConnection;
    hasNewConnection = false;
    if (areOthersWaiting && turnsForOthers > 0 && now < othersUntil) {
      turnsForOthers -= 1;
      onNextTurn(open);
      return;
    }
    beginSlice(now);
    isWatching = beginNext(now);
    if (!isWatching) return;
    onNextTurn(open);
    scheduleSteps();
  }

  /** Between two of these all that a render does in one piece is done: its promises are settled. */
  function step(): void {
    steps -= 1;
    if (sliceEnd === 0) return;
    const now = readClock();
    if (now < sliceEnd) beginNext(now);
    scheduleSteps();
  }

  function scheduleSteps(): void {
    if (isCrowded) return;
    for (const wanted = Math.min(countQueued(), MAX_STEPS); steps < wanted; steps++) onNextTurn(step);
  }

  function beginSlice(now: number): void {
    if (countQueued() > 0 && begunBefore > 0) {
      const lastMs = (now - sliceBegan) / begunBefore;
      stepMs += (lastMs - stepMs) * Math.min(1, WEIGHT * begunBefore);
    }
    sliceBegan = now;
    sliceEnd = isCrowded ? now : now + SLICE;
  }

  function endSlice(now: number): void {
    turnsForOthers = begun * (isCrowded ? TURNS_FOR_OTHERS : 1);
    othersUntil = now + (now - sliceBegan);
    sliceEnd = 0;
    begunBefore = begun;
    begun = 0;
  }

  /** @returns false where nobody waits */
  function beginNext(now: number): boolean {
    const place = takeWanted(now);
    if (!place) return false;
    begun += 1;
    isCrowded = now - place.since > CROWDED * maxWaitMs;
    if (isCrowded) sliceEnd = now;
    // Who comes now has not waited: with what is left of this slice alone, there would be a queue for ever.
    else if (countQueued() === 0) sliceEnd = now + SLICE;
    place.resolve(true);
    return true;
  }

  /** The next one that somebody still waits for, and not for too long. */
  function takeWanted(now: number): Place | undefined {
    for (let place = shift(); place; place = shift()) {
      const isLate = place.mayRefuse && now - place.since > 2 * maxWaitMs;
      const isGone = place.waiting.endedBy instanceof VisitorGone;
      if (!isLate && !isGone) return place;
      if (!isGone) onRefuse?.();
      place.resolve(false);
    }
    return undefined;
  }

  function shift(): Place | undefined {
    const place = queue[head];
    if (!place) return undefined;
    head += 1;
    if (head === queue.length || head > 1000) {
      queue = queue.slice(head);
      head = 0;
    }
    return place;
  }

  return {
    get pages() {
      return pages;
    },
    get queued() {
      return countQueued();
    },
    get waitMs() {
      return readWait();
    },
    enter() {
      pages += 1;
      let isIn = true;
      return () => {
        if (isIn) pages -= 1;
        isIn = false;
      };
    },
    noteConnection() {
      hasNewConnection = true;
    },
    acquire(waiting, mayRefuse) {
      const now = readClock();
      if (!isWatching) {
        isWatching = true;
        isCrowded = false;
        beginSlice(now);
        asNobody(onNextTurn, open);
      }
      if (countQueued() === 0 && now < sliceEnd) {
        begun += 1;
        return undefined;
      }
      if (mayRefuse && readWait() > maxWaitMs) {
        onRefuse?.();
        return Promise.resolve(false);
      }
      return new Promise((resolve) => {
        queue.push({ waiting, mayRefuse, since: now, resolve });
        asNobody(scheduleSteps);
      });
    },
  };
}
