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
  return new Limiter(options);
}

class Limiter implements RenderLimiter {
  pages = 0;
  readonly #maxWaitMs: number;
  readonly #onRefuse: (() => void) | undefined;
  readonly #now: () => number;
  readonly #onNextTurn: (callback: () => void) => void;
  /** The queue begins here; what stands before it is cut off now and then. */
  #head = 0;
  #queue: Place[] = [];
  /** `#open` is called in the next turn. */
  #isWatching = false;
  /** When this slice began and until when it may begin renders (ms): 0 in turns for others. */
  #sliceBegan = 0;
  #sliceEnd = 0;
  /** Renders that this slice has begun, and that the one before it had (counts). */
  #begun = 0;
  #begunBefore = 0;
  /** Calls of `#step` that are due in the next turn (a count). */
  #steps = 0;
  /** Turns that others have before the next slice, and when their time is over (ms). */
  #turnsForOthers = 0;
  #othersUntil = 0;
  #hasNewConnection = false;
  #isCrowded = false;
  /** From one render to the next while there is a queue (ms): it, and all that happened beside it. */
  #stepMs = 0;
  /** The next turn belongs to no visitor: it must not keep one's request in memory. */
  readonly #asNobody = AsyncLocalStorage.snapshot();

  constructor({ maxWaitMs, onRefuse, now, onNextTurn }: RenderLimiterOptions) {
    this.#maxWaitMs = maxWaitMs ?? Number.POSITIVE_INFINITY;
    this.#onRefuse = onRefuse;
    this.#now = now ?? (() => performance.now());
    this.#onNextTurn = onNextTurn ?? setImmediate;
  }

  get queued(): number {
    return this.#queue.length - this.#head;
  }

  get waitMs(): number {
    const oldest = this.#queue[this.#head];
    return oldest ? Math.max(this.#now() - oldest.since, this.queued * this.#stepMs) : 0;
  }

  enter(): () => void {
    this.pages += 1;
    let isIn = true;
    return () => {
      if (isIn) this.pages -= 1;
      isIn = false;
    };
  }

  noteConnection(): void {
    this.#hasNewConnection = true;
  }

  acquire(waiting: Waiting, mayRefuse: boolean): Promise<boolean> | undefined {
    const now = this.#now();
    if (!this.#isWatching) {
      this.#isWatching = true;
      this.#isCrowded = false;
      this.#beginSlice(now);
      this.#asNobody(this.#onNextTurn, this.#open);
    }
    if (this.queued === 0 && now < this.#sliceEnd) {
      this.#begun += 1;
      return undefined;
    }
    if (mayRefuse && this.waitMs > this.#maxWaitMs) {
      this.#onRefuse?.();
      return Promise.resolve(false);
    }
    return new Promise((resolve) => {
      this.#queue.push({ waiting, mayRefuse, since: now, resolve });
      this.#asNobody(this.#scheduleSteps);
    });
  }

  /** The first of each turn. */
  readonly #open = (): void => {
    const now = this.#now();
    if (this.#begun > 0) this.#endSlice(now);
    const areOthersWaiting = this.#isCrowded || this.#hasNewConnection;
    this.#hasNewConnection = false;
    if (areOthersWaiting && this.#turnsForOthers > 0 && now < this.#othersUntil) {
      this.#turnsForOthers -= 1;
      this.#onNextTurn(this.#open);
      return;
    }
    this.#beginSlice(now);
    this.#isWatching = this.#beginNext(now);
    if (!this.#isWatching) return;
    this.#onNextTurn(this.#open);
    this.#scheduleSteps();
  };

  /** Between two of these all that a render does in one piece is done: its promises are settled. */
  readonly #step = (): void => {
    this.#steps -= 1;
    if (this.#sliceEnd === 0) return;
    const now = this.#now();
    if (now < this.#sliceEnd) this.#beginNext(now);
    this.#scheduleSteps();
  };

  readonly #scheduleSteps = (): void => {
    if (this.#isCrowded) return;
    for (const wanted = Math.min(this.queued, MAX_STEPS); this.#steps < wanted; this.#steps++) {
      this.#onNextTurn(this.#step);
    }
  };

  #beginSlice(now: number): void {
    if (this.queued > 0 && this.#begunBefore > 0) {
      const stepMs = (now - this.#sliceBegan) / this.#begunBefore;
      this.#stepMs += (stepMs - this.#stepMs) * Math.min(1, WEIGHT * this.#begunBefore);
    }
    this.#sliceBegan = now;
    this.#sliceEnd = this.#isCrowded ? now : now + SLICE;
  }

  #endSlice(now: number): void {
    this.#turnsForOthers = this.#begun * (this.#isCrowded ? TURNS_FOR_OTHERS : 1);
    this.#othersUntil = now + (now - this.#sliceBegan);
    this.#sliceEnd = 0;
    this.#begunBefore = this.#begun;
    this.#begun = 0;
  }

  /** @returns false where nobody waits */
  #beginNext(now: number): boolean {
    const place = this.#takeWanted(now);
    if (!place) return false;
    this.#begun += 1;
    this.#isCrowded = now - place.since > CROWDED * this.#maxWaitMs;
    if (this.#isCrowded) this.#sliceEnd = now;
    // Who comes now has not waited: with what is left of this slice alone, there would be a queue for ever.
    else if (this.queued === 0) this.#sliceEnd = now + SLICE;
    place.resolve(true);
    return true;
  }

  /** The next one that somebody still waits for, and not for too long. */
  #takeWanted(now: number): Place | undefined {
    for (;;) {
      const place = this.#shift();
      if (!place) return undefined;
      const isLate = place.mayRefuse && now - place.since > 2 * this.#maxWaitMs;
      const isGone = place.waiting.endedBy instanceof VisitorGone;
      if (!isLate && !isGone) return place;
      if (!isGone) this.#onRefuse?.();
      place.resolve(false);
    }
  }

  #shift(): Place | undefined {
    const place = this.#queue[this.#head];
    if (!place) return undefined;
    this.#head += 1;
    if (this.#head === this.#queue.length || this.#head > 1000) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
    return place;
  }
}
