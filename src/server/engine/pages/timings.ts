import type { ServerResponse } from 'node:http';

/** The parts of a page's time. */
export type Phase = 'guard' | 'loader' | 'queue' | 'render';

/** The `Server-Timing` of one page, for operators. */
export class Timings {
  readonly #began = performance.now();
  readonly #entries: string[] = [];

  /**
   * @param since `performance.now()` at its start
   * @param of the id of its route, if it has one
   */
  add(phase: Phase, since: number, of?: string): void {
    const words = of === undefined ? '' : `;desc=${JSON.stringify(`${phase} of ${of}`)}`;
    this.#entries.push(`${phase}${words};dur=${toMs(performance.now() - since)}`);
  }

  write(response: ServerResponse): void {
    if (response.headersSent) return;
    response.setHeader(
      'Server-Timing',
      [...this.#entries, `total;dur=${toMs(performance.now() - this.#began)}`].join(', '),
    );
  }
}

/** Runs the work of one phase, and measures it if an operator can see it. */
export function timed<Value>(
  timings: Timings | undefined,
  phase: Phase,
  of: string,
  work: () => Promise<Value> | Value,
): Promise<Value> | Value {
  return timings ? measure(timings, phase, of, work) : work();
}

async function measure<Value>(
  timings: Timings,
  phase: Phase,
  of: string,
  work: () => Promise<Value> | Value,
): Promise<Value> {
  const since = performance.now();
  try {
    return await work();
  } finally {
    timings.add(phase, since, of);
  }
}

function toMs(ms: number): string {
  return ms.toFixed(1);
}
