import type { IncomingMessage } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { MiB } from '../../../shared/units.ts';
import type { Count } from '../monitoring/count.ts';
import { toPageUrl } from '../pages/page-url.ts';
import { isApiPath } from '../request/api-path.ts';
import { requestInfo } from '../request/request-info.ts';
import type { Step } from '../request/step.ts';
import { sendBusy } from './busy-page.ts';
import { createRenderLimiter, type RenderLimiter } from './render-limiter.ts';

/**
 * Refused requests: 0 none; 1 prefetches; 2 also pages that are rendered for each request; 3 everything except
 * health, pages for operators, the metrics and files.
 */
export type Level = 0 | 1 | 2 | 3;

/** At this moment. `reason` is the label of `spillway_requests_shed_total`. */
export interface Overload {
  readonly level: Level;
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

/** Where each level begins: shares of `delayMs` for the render queue and for the event loop, and of `maxPages`. */
const QUEUE = [0.1, 1] as const;
/** Other processes on a busy machine can delay the event loop too. */
const LOOP = [0.4, 2, 8] as const;
const PAGES = [0.5, 1] as const;

/** Decides what is refused. */
export function createOverload({ delayMs, maxPages, limiter, readLoopDelay }: OverloadOptions): Overload {
  const byLoop = () => climb(LOOP, readLoopDelay() / delayMs);
  const byQueue = () => climb(QUEUE, limiter.waitMs / delayMs);
  const byPages = () => climb(PAGES, limiter.pages / maxPages);
  return {
    get level() {
      return Math.max(byLoop(), byQueue(), byPages()) as Level; // the highest of them is 3
    },
    get reason() {
      const { level } = this;
      if (byLoop() === level) return 'event-loop';
      return byQueue() === level ? 'renders' : 'pages';
    },
  };
}

/** Returns how many of the values are reached. */
function climb(rungs: readonly number[], value: number): number {
  return rungs.filter((rung) => value >= rung).length;
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
const LEVELS: Readonly<Record<What, number>> = { prefetch: 1, page: 2, data: 2, api: 3, other: 3 };

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
    if (level === 0) return next();
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
