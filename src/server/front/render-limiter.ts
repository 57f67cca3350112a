import { AsyncLocalStorage } from 'node:async_hooks';
import { VisitorGone } from '../request/http-error.ts';

/** A page that waits for its render. */
export interface Waiting {
  /** `VisitorGone` if the visitor has left. */
  readonly endedBy: Error | undefined;
}

export type RenderLimiter = ReturnType<typeof createRenderLimiter>;

interface RenderLimiterOptions {
  /** How long a page can wait before others are refused (ms), which is half of the longest wait. By default, no limit. */
  readonly maxWaitMs?: number | undefined;
  /** Called for each refusal. */
  readonly onRefuse?: () => void;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
  /** Calls back in the next turn of the event loop. */
  readonly onNextTurn?: (callback: () => void) => void;
}

interface Queued {
  readonly waiting: Waiting;
  readonly mayRefuse: boolean;
  readonly since: number;
  readonly resolve: (isFree: boolean) => void;
}

/**
 * How long renders can begin in one turn of the event loop (ms); the last one runs to its end. A waiting page keeps its
 * loaded data in memory, past collections of the young generation. With one page per turn, a server with 32 busy
 * connections spent a fifth of its time on that.
 */
const SLICE = 50;
/** The most that are taken from the queue in one turn (count): a slice cannot do more. */
const MAX_STEPS = 64;
/**
 * Turns without a render that others then get for each render (count), as long as all of them take no longer than the
 * slice did. A turn accepts only one new connection (libuv). With renders in each, more connections would arrive than
 * could even be queued.
 */
const TURNS_FOR_OTHERS = 7;

/**
 * React renders a page in one piece, so if many arrive at once, all would wait for all. Here, pages are rendered in
 * slices, in the order of their arrival. Other work continues between them: probes, small answers, request bodies, new
 * connections.
 */
export function createRenderLimiter(options: RenderLimiterOptions = {}) {
  const { maxWaitMs = Number.POSITIVE_INFINITY, onRefuse, now = () => performance.now() } = options;
  const onNextTurn: (callback: () => void) => void = options.onNextTurn ?? setImmediate;
  /** The next turn belongs to no visitor, so it must not keep a visitor's request in memory. */
  const asNobody = AsyncLocalStorage.snapshot();
  const queue: Queued[] = [];
  let pages = 0;
  /** `endSlice` is called in the next turn. */
  let isWatching = false;
  /** When this slice began, and until when it can begin renders (ms); 0 between slices. */
  let sliceBegan = 0;
  let sliceEnd = 0;
  /** Renders that this slice has begun (count). */
  let begun = 0;
  /** Turns that others get before the next slice, and when their time is over (ms). */
  let turnsForOthers = 0;
  let othersUntil = 0;

  const readWait = (): number => (queue[0] ? now() - queue[0].since : 0);

  function beginSlice(): void {
    sliceBegan = now();
    sliceEnd = sliceBegan + SLICE;
  }

  /** Runs last in each turn. */
  function endSlice(): void {
    const at = now();
    if (begun > 0) {
      turnsForOthers = begun * TURNS_FOR_OTHERS;
      othersUntil = at + (at - sliceBegan);
      begun = 0;
    }
    sliceEnd = 0;
    if (turnsForOthers > 0 && at < othersUntil) {
      turnsForOthers -= 1;
      onNextTurn(endSlice);
      return;
    }
    isWatching = queue.length > 0;
    if (!isWatching) return;
    // Between two of these, everything that a render does in one piece is finished, including its promises.
    for (let steps = Math.min(queue.length, MAX_STEPS); steps > 0; steps--) onNextTurn(step);
    onNextTurn(endSlice);
  }

  function step(): void {
    if (begun === 0) beginSlice();
    const queued = now() < sliceEnd ? takeWanted() : undefined;
    if (!queued) return;
    begun += 1;
    queued.resolve(true);
  }

  /** Takes the next page whose visitor is still there, and which has not waited too long. */
  function takeWanted(): Queued | undefined {
    for (let queued = queue.shift(); queued; queued = queue.shift()) {
      const isLate = queued.mayRefuse && now() - queued.since > 2 * maxWaitMs;
      const isGone = queued.waiting.endedBy instanceof VisitorGone;
      if (!isLate && !isGone) return queued;
      if (!isGone) onRefuse?.();
      queued.resolve(false);
    }
    return undefined;
  }

  return {
    /** Pages that have begun and have not sent their shell yet (count). */
    get pages() {
      return pages;
    },
    /** Those of them that wait for a slot (count). */
    get queued() {
      return queue.length;
    },
    /** How long the oldest of these has waited (ms). */
    get waitMs() {
      return readWait();
    },
    /** Counts a page in progress. @returns a function to call once, when its shell is sent or the page is abandoned */
    enter(): () => void {
      pages += 1;
      let isIn = true;
      return () => {
        if (isIn) pages -= 1;
        isIn = false;
      };
    },
    /**
     * Waits for a slot; undefined if one is free now.
     *
     * @param mayRefuse false for a page that must be answered, such as that of a form whose action has run
     * @returns false if the page was refused, or its visitor has left
     */
    acquire(waiting: Waiting, mayRefuse: boolean): Promise<boolean> | undefined {
      if (!isWatching) {
        isWatching = true;
        beginSlice();
        asNobody(onNextTurn, endSlice);
      }
      if (queue.length === 0 && now() < sliceEnd) {
        begun += 1;
        return undefined;
      }
      if (mayRefuse && readWait() > maxWaitMs) {
        onRefuse?.();
        return Promise.resolve(false);
      }
      return new Promise((resolve) => queue.push({ waiting, mayRefuse, since: now(), resolve }));
    },
  };
}
