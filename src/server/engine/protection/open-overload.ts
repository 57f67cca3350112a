import type { Count } from '../monitoring/count.ts';
import { createOverload, type Overload } from './overload.ts';
import { createRenderLimiter, type RenderLimiter } from './render-limiter.ts';
import { toMaxPages, watchOverload } from './watch-overload.ts';

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
