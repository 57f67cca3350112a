import type { ServerResponse } from 'node:http';
import type { RequestSpans } from './request-spans.ts';

/** The parts of a page's time. */
type Phase = 'guard' | 'loader' | 'action' | 'queue' | 'render';

interface Timing {
  readonly phase: Phase;
  /** The id of its route or action, if it has one. */
  readonly of: string | undefined;
  readonly ms: number;
}

/** How long the parts of one page took. */
export class Timings {
  readonly #began = performance.now();
  readonly entries: Timing[] = [];

  /** @param since `performance.now()` at its start */
  add(phase: Phase, since: number, of?: string): void {
    this.entries.push({ phase, of, ms: performance.now() - since });
  }

  /** Sends them to an operator as `Server-Timing`. */
  write(response: ServerResponse): void {
    if (response.headersSent) return;
    const entries = this.entries.map((entry) => {
      const words = entry.of === undefined ? '' : `;desc=${JSON.stringify(toTimingName(entry))}`;
      return `${entry.phase}${words};dur=${entry.ms.toFixed(1)}`;
    });
    const total = performance.now() - this.#began;
    response.setHeader('Server-Timing', [...entries, `total;dur=${total.toFixed(1)}`].join(', '));
  }
}

/** `loader of cart`, `render` */
function toTimingName({ phase, of }: Timing): string {
  return of === undefined ? phase : `${phase} of ${of}`;
}

/** Runs the work of one phase, in a span if spans are recorded. */
export function inSpan<Value>(
  { spans }: { readonly spans: RequestSpans | undefined },
  phase: Phase,
  of: string | undefined,
  work: () => Promise<Value> | Value,
): Promise<Value> | Value {
  return spans ? spans.run(of === undefined ? phase : `${phase} ${of}`, work) : work();
}
