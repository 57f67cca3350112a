import type { ServerResponse } from 'node:http';
import type { RequestInfo } from './request-info.ts';

/** The parts of a page's time. */
export type Phase = 'guard' | 'loader' | 'action' | 'queue' | 'render';

export interface Timing {
  readonly phase: Phase;
  /** The id of its route, or the name of its action. */
  readonly of?: string | undefined;
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
    const entries = this.entries.map(({ phase, of, ms }) => {
      const words = of === undefined ? '' : `;desc=${JSON.stringify(`${phase} of ${of}`)}`;
      return `${phase}${words};dur=${ms.toFixed(1)}`;
    });
    const total = performance.now() - this.#began;
    response.setHeader('Server-Timing', [...entries, `total;dur=${total.toFixed(1)}`].join(', '));
  }
}

/** Runs the work of one phase, and measures it. */
export async function timed<Value>(
  { timings }: Pick<RequestInfo, 'timings'>,
  phase: Phase,
  of: string,
  work: () => Promise<Value> | Value,
): Promise<Value> {
  const since = performance.now();
  try {
    return await work();
  } finally {
    timings?.add(phase, since, of);
  }
}
