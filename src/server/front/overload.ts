import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { MiB } from '../../shared/units.ts';
import { isApiPath } from '../request/api-path.ts';
import type { Count } from '../request/counters.ts';
import { VisitorGone } from '../request/http-error.ts';
import { toPageUrl } from '../request/page-url.ts';
import { requestInfo } from '../request/request-info.ts';
import type { Step } from '../request/step.ts';
import { sendBusy } from './busy-page.ts';

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
  /** How long the oldest of these has waited (ms). */
  readonly waitMs: number;
  /** Counts a page in progress. @returns a function to call once, when its shell is sent or the page is abandoned */
  enter(): () => void;
  /**
   * Waits for a slot; undefined if one is free now.
   *
   * @param mayRefuse false for a page that must be answered, such as that of a form whose action has run
   * @returns false if the page was refused, or its visitor has left
   */
  acquire(waiting: Waiting, mayRefuse: boolean): Promise<boolean> | undefined;
}

export interface RenderLimiterOptions {
  /** How long a page can wait before others are refused (ms), which is half of the longest wait. By default, no limit. */
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
export function createRenderLimiter(options: RenderLimiterOptions = {}): RenderLimiter {
  const { maxWaitMs = Number.POSITIVE_INFINITY, onRefuse, now = () => performance.now() } = options;
  const onNextTurn: (callback: () => void) => void = options.onNextTurn ?? setImmediate;
  /** The next turn belongs to no visitor, so it must not keep a visitor's request in memory. */
  const asNobody = AsyncLocalStorage.snapshot();
  const queue: Place[] = [];
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
    const place = now() < sliceEnd ? takeWanted() : undefined;
    if (!place) return;
    begun += 1;
    place.resolve(true);
  }

  /** Takes the next page whose visitor is still there, and which has not waited too long. */
  function takeWanted(): Place | undefined {
    for (let place = queue.shift(); place; place = queue.shift()) {
      const isLate = place.mayRefuse && now() - place.since > 2 * maxWaitMs;
      const isGone = place.waiting.endedBy instanceof VisitorGone;
      if (!isLate && !isGone) return place;
      if (!isGone) onRefuse?.();
      place.resolve(false);
    }
    return undefined;
  }

  return {
    get pages() {
      return pages;
    },
    get queued() {
      return queue.length;
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
    acquire(waiting, mayRefuse) {
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

/** At this moment. */
export interface Overload {
  /** From 0: see `LEVELS`. */
  readonly level: number;
  /** The label of `spillway_requests_shed_total`. */
  readonly reason: 'event-loop' | 'renders' | 'pages';
}

interface OverloadOptions {
  /** How long a page's render can wait before new pages are refused (ms). The event loop can be late by twice that. */
  readonly delayMs: number;
  /** Pages that can be in progress at the same time (a count). */
  readonly maxPages: number;
  readonly limiter: Pick<RenderLimiter, 'pages' | 'waitMs'>;
  /** How late the event loop was recently (ms). */
  readonly readLoopDelay: () => number;
}

/** Compares what waits with its limits: 1 is at the limit. */
export function createOverload({ delayMs, maxPages, limiter, readLoopDelay }: OverloadOptions): Overload {
  const measure = () =>
    ({
      // Other processes on a busy machine can delay the event loop too.
      'event-loop': readLoopDelay() / (2 * delayMs),
      renders: limiter.waitMs / delayMs,
      pages: limiter.pages / maxPages,
    }) satisfies Record<Overload['reason'], number>;
  return {
    get level() {
      return Math.max(...Object.values(measure()));
    },
    get reason() {
      const [highest] = Object.entries(measure()).sort(([, one], [, other]) => other - one);
      return highest?.[0] as Overload['reason']; // a key of them
    },
  };
}

/** How often the event loop is checked, and the resolution of its delay (ms). */
const INTERVAL = 250;
const RESOLUTION = 20;
/** The share of the last delay that remains after an interval: one long block is over within a second or two. */
const MEMORY = 0.5;

/** Measures how late the event loop is, without keeping the process alive. @returns a function that reads it (ms) */
export function watchLoopDelay(): () => number {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION });
  histogram.enable();
  let delay = 0;
  setInterval(() => {
    delay = Math.max(0, histogram.max / 1e6 - RESOLUTION, delay * MEMORY);
    histogram.reset();
  }, INTERVAL).unref();
  return () => delay;
}

/** Heap that a page in progress can use (bytes): its data, its text, and React's state. */
const PAGE_BYTES = 4 * MiB;
/** Limits of the number that is calculated from the heap (counts). */
const FEWEST_PAGES = 32;
const MOST_PAGES = 1000;

/** Returns how many pages can be in progress at the same time, by the heap limit of this process. */
export function toMaxPages(heapLimit = getHeapStatistics().heap_size_limit): number {
  return Math.min(MOST_PAGES, Math.max(FEWEST_PAGES, Math.floor(heapLimit / PAGE_BYTES)));
}

interface OpenOverloadOptions {
  /** How late a page's render or the event loop can be (ms); 0 refuses nothing. */
  readonly delayMs: number;
  /** Pages in progress (a count); by default calculated from the heap. */
  readonly maxPages?: number | undefined;
  readonly count: Count;
}

/** Creates the limiter for renders, and starts to watch for overload. `overload` is undefined if nothing is refused. */
export function openOverload({ delayMs, maxPages = toMaxPages(), count }: OpenOverloadOptions): {
  readonly limiter: RenderLimiter;
  readonly overload: Overload | undefined;
} {
  if (delayMs === 0) return { limiter: createRenderLimiter(), overload: undefined };
  const limiter = createRenderLimiter({
    maxWaitMs: delayMs,
    onRefuse: () => count('spillway_requests_shed_total', { what: 'page', reason: 'renders' }),
  });
  return { limiter, overload: createOverload({ delayMs, maxPages, limiter, readLoopDelay: watchLoopDelay() }) };
}

/** The kind of a request: the label `what` of `spillway_requests_shed_total`. */
type What = 'prefetch' | 'page' | 'data' | 'api' | 'other';

/** The level from which each kind is refused. */
const LEVELS: Readonly<Record<What, number>> = { prefetch: 0.5, page: 1, data: 1, api: 4, other: 4 };

interface ShedOptions {
  readonly overload: Overload;
  /** True if a page, or its data, is rendered for each request. One from memory costs less than a refusal. */
  readonly isRendered: (path: string) => boolean;
  /** True for paths that are never refused. */
  readonly isExempt: (path: string) => boolean;
  readonly count?: Count | undefined;
}

/**
 * Refuses excess requests before any of their work begins: first prefetches, then pages and their data, and only if
 * that does not help, forms, the API and the rest. It runs after health, metrics and files, and never sees them.
 */
export function shed({ overload, isRendered, isExempt, count }: ShedOptions): Step {
  return function shed(req, res, next) {
    const { level } = overload;
    if (level < LEVELS.prefetch) return next();
    const { path } = requestInfo(req);
    const what = toWhat(req, path, isRendered);
    if (level < LEVELS[what] || isExempt(path)) return next();
    count?.('spillway_requests_shed_total', { what, reason: overload.reason });
    sendBusy(req, res);
  };
}

function toWhat(req: IncomingMessage, path: string, isRendered: (path: string) => boolean): What {
  if (isApiPath(path)) return 'api';
  if ((req.method !== 'GET' && req.method !== 'HEAD') || !isRendered(path)) return 'other';
  // The only header of a client that has a meaning here.
  if (req.headers.purpose === 'prefetch') return 'prefetch';
  return toPageUrl(path) === undefined ? 'page' : 'data';
}
