import { AsyncLocalStorage } from 'node:async_hooks';
import { VisitorGone } from '../errors/visitor-gone.ts';

/** A page that waits for its render. */
export interface Waiting {
  /** `VisitorGone` if the visitor has left. */
  readonly endedBy: Error | undefined;
}

/** Lets pages render in the order of their arrival, and knows how far behind it is. */
export interface RenderLimiter {
  /** Pages that have begun and have not sent their shell yet (count). */
  readonly pages: number;
  /** Those of them that wait for a slot (count). */
  readonly queued: number;
  /** How long a render that arrives now would wait, approximately (ms). */
  readonly waitMs: number;
  /** Counts a page in progress. @returns a function to call once, when its shell is sent or the page is abandoned */
  enter(): () => void;
  /** Notes a new connection, because more can be waiting behind it. */
  noteConnection(): void;
  /**
   * Waits for a slot; undefined if one is free now.
   *
   * @param mayRefuse false for a page that must be answered, such as that of a form whose action has run
   * @returns false if the page was refused, or its visitor has left
   */
  acquire(waiting: Waiting, mayRefuse: boolean): Promise<boolean> | undefined;
}

export interface RenderLimiterOptions {
  /** The longest that a page that can be refused waits (ms). By default, none is refused. */
  readonly maxWaitMs?: number | undefined;
  /** Called for each refusal. */
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

/** Weight of the latest step in the average (a share): a single long one, as in a garbage collection, barely counts. */
const WEIGHT = 0.02;

/**
 * How long renders can begin in one turn of the event loop (ms); the last one runs to its end. A waiting page keeps its
 * loaded data in memory, past collections of the young generation. With one page per turn, a server with 32 busy
 * connections spent a fifth of its time on that.
 */
const SLICE = 50;
/** The most that are taken from the queue in one turn (count): a slice cannot do more. */
const MAX_STEPS = 64;
/** Above this share of the longest wait, there is one render per turn, and then turns for others. */
const CROWDED = 0.2;
/**
 * Turns without a render that others then get for each render (count), as long as all of them take no longer than the
 * slice did. A turn accepts only one new connection (libuv). With a render in each, more connections would arrive than
 * could even be queued.
 */
const TURNS_FOR_OTHERS = 7;

/**
 * React renders a page in one piece, so if many arrive at once, all would wait for all. Here, pages are rendered in
 * slices, in the order of their arrival. Other work continues between them: probes, small answers, request bodies, new
 * connections.
 */
export function createRenderLimiter(options: RenderLimiterOptions = {}): RenderLimiter {
  const { maxWaitMs = Number.POSITIVE_INFINITY, onRefuse, now: readClock = () => performance.now() } = options;
  const onNextTurn: (callback: () => void) => void = options.onNextTurn ?? setImmediate;
  /** The next turn belongs to no visitor, so it must not keep a visitor's request in memory. */
  const asNobody = AsyncLocalStorage.snapshot();
  let pages = 0;
  /** The queue begins at `head`. Earlier places are removed from time to time. */
  const queue: (Place | undefined)[] = [];
  let head = 0;
  /** `open` is called in the next turn. */
  let isWatching = false;
  /** When this slice began, and until when it can begin renders (ms); 0 in turns for others. */
  let sliceBegan = 0;
  let sliceEnd = 0;
  /** Renders that this slice has begun, and the one before it (counts). */
  let begun = 0;
  let begunBefore = 0;
  /** Calls of `step` that are scheduled for the next turn (count). */
  let steps = 0;
  /** Turns that others get before the next slice, and when their time is over (ms). */
  let turnsForOthers = 0;
  let othersUntil = 0;
  let hasNewConnection = false;
  let isCrowded = false;
  /** Time from one render to the next while there is a queue, with all other work in between (ms). */
  let stepMs = 0;

  function countQueued(): number {
    return queue.length - head;
  }

  function readWait(): number {
    const oldest = queue[head];
    return oldest ? Math.max(readClock() - oldest.since, countQueued() * stepMs) : 0;
  }

  /** Runs first in each turn. */
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

  /** Between two of these, everything that a render does in one piece is finished, including its promises. */
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

  /** @returns false if no page waits */
  function beginNext(now: number): boolean {
    const place = takeWanted(now);
    if (!place) return false;
    begun += 1;
    isCrowded = now - place.since > CROWDED * maxWaitMs;
    if (isCrowded) sliceEnd = now;
    // The next page has not waited. If it only got the rest of this slice, there would always be a queue.
    else if (countQueued() === 0) sliceEnd = now + SLICE;
    place.resolve(true);
    return true;
  }

  /** Takes the next page whose visitor is still there, and which has not waited too long. */
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
    queue[head] = undefined; // a page that was sent must not stay in memory until its place is removed
    head += 1;
    if (head === queue.length || head > 1000) {
      queue.splice(0, head); // not a copy: the old array would keep those that still wait until a full collection
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
