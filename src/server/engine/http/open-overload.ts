import type { Count } from '../count.ts';
import { createOverload, type Overload } from './overload.ts';
import { createRenderGate, type RenderGate } from './render-gate.ts';
import { toMaxPages, watchOverload } from './watch-overload.ts';

export interface OpenOverloadOptions {
  /** How late a page's render or the event loop may be (ms); 0 where nothing is refused. */
  readonly delayMs: number;
  /** Pages in progress (a count); by the heap where it is not given. */
  readonly maxPages?: number | undefined;
  readonly count: Count;
}

/** The gate that renders pass, and what watches over it from here on. */
export function openOverload({ delayMs, maxPages = toMaxPages(), count }: OpenOverloadOptions): {
  readonly gate: RenderGate;
  /** Undefined where nothing is refused. */
  readonly overload: Overload | undefined;
} {
  if (delayMs === 0) return { gate: createRenderGate(), overload: undefined };
  const gate = createRenderGate({
    maxWaitMs: delayMs,
    onRefuse: () => count('spillway_requests_shed_total', { what: 'page', reason: 'renders' }),
  });
  const overload = createOverload({ delayMs, maxPages, gate });
  watchOverload(overload);
  return { gate, overload };
}
