import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { MiB } from '../../../shared/units.ts';
import type { Count } from '../monitoring/count.ts';
import { createOverload, type Overload } from './overload.ts';
import { createRenderLimiter, type RenderLimiter } from './render-limiter.ts';

/** How often the loop and the heap are checked, and the resolution of the loop's delay (ms). */
const INTERVAL = 250;
const RESOLUTION = 20;

/** Heap that a page in progress can use (bytes): its data, its text, and React's state. */
const PAGE_BYTES = 4 * MiB;
/** Limits of the number that is calculated from the heap (counts). */
const FEWEST_PAGES = 32;
const MOST_PAGES = 1000;

export interface OpenOverloadOptions {
  /** How late a page's render or the event loop can be (ms); 0 refuses nothing. */
  readonly delayMs: number;
  /** Pages in progress (count); by default calculated from the heap. */
  readonly maxPages?: number | undefined;
  readonly count: Count;
}

/** Creates the limiter for renders, and starts to watch for overload. */
export function openOverload({ delayMs, maxPages = toMaxPages(), count }: OpenOverloadOptions): {
  readonly limiter: RenderLimiter;
  /** Undefined if nothing is refused. */
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

/** Starts to measure for `overload`, without keeping the process alive. @returns a function that stops it */
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

/** Returns how many pages can be in progress at the same time, by the heap limit of this process. */
export function toMaxPages(heapLimit = getHeapStatistics().heap_size_limit): number {
  return Math.min(MOST_PAGES, Math.max(FEWEST_PAGES, Math.floor(heapLimit / PAGE_BYTES)));
}
