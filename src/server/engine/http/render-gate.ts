import { AsyncLocalStorage } from 'node:async_hooks';
import { VisitorGone } from '../errors/visitor-gone.ts';

/** Whoever waits for a render. */
export interface Waiting {
  /** `VisitorGone` when nobody wants it any more. */
  readonly endedBy: Error | undefined;
}

/** Lets one page after the other render, and knows how far behind it is. */
export interface RenderGate {
  /** Pages that were begun and have not sent their shell yet (a count). */
  readonly pages: number;
  /** Those of them that wait for their turn (a count). */
  readonly queued: number;
  /** How long a render that came now would wait, as far as can be told (ms). */
  readonly waitMs: number;
  /** A page begins. @returns to be called once, when its shell is sent or it is given up */
  enter(): () => void;
  /**
   * Waits for a turn of the event loop of its own; undefined where it is free at once.
   *
   * @param mayRefuse false for what must be answered, such as a form whose action has run
   * @returns false where it was refused, or nobody wants it any more
   */
  takeTurn(waiting: Waiting, mayRefuse: boolean): Promise<boolean> | undefined;
}

export interface RenderGateOptions {
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

/** From which part of the longest wait on renders make room for others (a share). */
const CROWDED = 0.1;
/**
 * Turns of the loop without a render that follow each one then (a count), as long as all of them take
 * no longer than the render did. A turn takes in one new connection alone (libuv), so with a render in
 * each, more would come than are even told to wait.
 */
const TURNS_FOR_OTHERS = 7;

/**
 * React renders a page in one piece, so of many that come at once all would wait for all. Here each
 * turn of the event loop begins one render, in the order in which they came, and what else there is to
 * do (probes, small answers, bodies that come in) goes on between them.
 */
export function createRenderGate(options: RenderGateOptions = {}): RenderGate {
  return new Gate(options);
}

class Gate implements RenderGate {
  pages = 0;
  readonly #maxWaitMs: number;
  readonly #onRefuse: (() => void) | undefined;
  readonly #now: () => number;
  readonly #onNextTurn: (callback: () => void) => void;
  /** The queue begins here; what stands before it is cut off now and then. */
  #head = 0;
  #queue: Place[] = [];
  /** A render has begun in this turn. */
  #isTaken = false;
  /** Turns that others have before the next render, and when their time is over (ms). */
  #turnsForOthers = 0;
  #othersUntil = 0;
  #movedAt = 0;
  /** From one turn to the next while there is a queue (ms): the render, and all that happened beside it. */
  #stepMs = 0;
  /** The next turn belongs to no visitor: it must not keep one's request in memory. */
  readonly #asNobody = AsyncLocalStorage.snapshot();

  constructor({ maxWaitMs, onRefuse, now, onNextTurn }: RenderGateOptions) {
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

  takeTurn(waiting: Waiting, mayRefuse: boolean): Promise<boolean> | undefined {
    if (!this.#isTaken) {
      this.#isTaken = true;
      this.#movedAt = this.#now();
      this.#asNobody(this.#onNextTurn, this.#next);
      return undefined;
    }
    if (mayRefuse && this.waitMs > this.#maxWaitMs) {
      this.#onRefuse?.();
      return Promise.resolve(false);
    }
    return new Promise((resolve) => {
      this.#queue.push({ waiting, mayRefuse, since: this.#now(), resolve });
    });
  }

  readonly #next = (): void => {
    const now = this.#now();
    if (this.#turnsForOthers === TURNS_FOR_OTHERS) this.#othersUntil = now + (now - this.#movedAt);
    if (this.#turnsForOthers > 0 && now <= this.#othersUntil) {
      this.#turnsForOthers -= 1;
      this.#onNextTurn(this.#next);
      return;
    }
    const place = this.#takeWanted(now);
    if (!place) {
      this.#isTaken = false;
      return;
    }
    this.#stepMs += (now - this.#movedAt - this.#stepMs) * WEIGHT;
    this.#movedAt = now;
    this.#turnsForOthers = now - place.since > CROWDED * this.#maxWaitMs ? TURNS_FOR_OTHERS : 0;
    place.resolve(true);
    this.#onNextTurn(this.#next);
  };

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
