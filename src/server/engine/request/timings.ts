import type { ServerResponse } from 'node:http';
import type { RequestSpans } from './request-spans.ts';

/** The parts of a page's time. */
export type Phase = 'guard' | 'loader' | 'action' | 'queue' | 'render';

/** How long the parts of one page took. */
export class Timings {
  readonly #began = performance.now();
  readonly entries: { readonly phase: Phase; readonly name: string; readonly ms: number }[] = [];

  /**
   * @param since `performance.now()` at its start
   * @param of the id of its route or action, if it has one
   */
  add(phase: Phase, since: number, of?: string): void {
    this.entries.push({ phase, name: of === undefined ? phase : `${phase} of ${of}`, ms: performance.now() - since });
  }

  /** Sends them to an operator as `Server-Timing`. */
  write(response: ServerResponse): void {
    if (response.headersSent) return;
    const entries = this.entries.map(({ phase, name, ms }) => {
      return `${phase}${name === phase ? '' : `;desc=${JSON.stringify(name)}`};dur=${ms.toFixed(1)}`;
    });
    const total = performance.now() - this.#began;
    response.setHeader('Server-Timing', [...entries, `total;dur=${total.toFixed(1)}`].join(', '));
  }
}

/** Runs the work of one phase, measures it, and records a span if spans are recorded. */
export async function timed<Value>(
  { timings, spans }: { readonly timings: Timings | undefined; readonly spans: RequestSpans | undefined },
  phase: Phase,
  of: string | undefined,
  work: () => Promise<Value> | Value,
): Promise<Value> {
  const since = performance.now();
  try {
    return await (spans ? spans.run(of === undefined ? phase : `${phase} ${of}`, work) : work());
  } finally {
    timings?.add(phase, since, of);
  }
}
