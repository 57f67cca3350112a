import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { MiB } from '../../../shared/units.ts';
import type { Count } from '../monitoring/count.ts';
import { createOverload, type Overload } from './overload.ts';
import { createRenderLimiter, type RenderLimiter } from './render-limiter.ts';

/** How often the loop and the heap are looked at, and how finely the loop is measured (ms). */
const INTERVAL = 250;
const RESOLUTION = 20;

/** What a page in progress may take of the heap (bytes): its data, its text, and what React holds of it. */
const PAGE_BYTES = 4 * MiB;
/** The bounds of what is made of the heap (counts). */
const FEWEST_PAGES = 32;
const MOST_PAGES = 1000;

export interface OpenOverloadOptions {
  /** How late a page's render or the event loop may be (ms); 0 where nothing is refused. */
  readonly delayMs: number;
  /** Pages in progress (a count); by the heap where it is not given. */
  readonly maxPages?: number | undefined;
  readonly count: Count;
}

/** The limiter that renders pass, and what watches over it from here on. */
export function openOverload({ delayMs, maxPages = toMaxPages(), count }: OpenOverloadOptions): {
  readonly limiter: RenderLimiter;
  /** Undefined where nothing is refused. */
  readonly overload: Overload | undefined;
} {
  if (delayMs === 0) return { limiter: createRenderLimiter(), overload: undefined };
  const limiter = createRenderLimiter({
    maxWaitMs: delayMs,
    onRefuse: () => count('spillway_requests_shed_total', { what: 'page', reason: 'renders' }),
  });
  const overload = createOverload({ delayMs, maxPages, limiter });
  watchOverload(overload);
  return { limiter, overload };
}

/** Measures for `overload` from here on, and keeps no process alive. @returns what ends it */
export function watchOverload(overload: Pick<Overload, 'take'>): () => void {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION });
  delay.enable();
  const timer = setInterval(() => {
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
    const loopDelayMs = Math.max(0, delay.max / 1e6 - RESOLUTION);
    delay.reset();
    overload.take({ loopDelayMs, heapShare: used / limit, at: performance.now() });
  }, INTERVAL).unref();
  return () => {
    clearInterval(timer);
    delay.disable();
  };
}

/** How many pages may be in progress at once, by the heap that this process may have. */
export function toMaxPages(heapLimit = getHeapStatistics().heap_size_limit): number {
  return Math.min(MOST_PAGES, Math.max(FEWEST_PAGES, Math.floor(heapLimit / PAGE_BYTES)));
}
