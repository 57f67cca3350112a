import type { IncomingMessage, ServerResponse } from 'node:http';
import { Millisecond } from '../../../shared/units.ts';

/** What a page's time went into. */
export type Phase = 'guard' | 'loader' | 'queue' | 'render';

/** Whether who asks may see timings; undefined for a visitor, of whom nothing is asked and nothing measured. */
export type ReadTimingAccess = (req: IncomingMessage, res: ServerResponse) => Promise<boolean> | undefined;

/** A page does not wait longer than this to know whether its reader is an operator (ms): the store may be away. */
const ACCESS_TIME = 200 * Millisecond;

/** What `Server-Timing` tells operators of one page. */
export class Timings {
  readonly #began = performance.now();
  readonly #entries: string[] = [];
  readonly #access: Promise<boolean>;
  #isAllowed = false;

  constructor(access: Promise<boolean>) {
    this.#access = access.catch(() => false); // at once: a page may end before anybody asks
  }

  /** To be awaited before `write()`, which adds nothing until it is known who asks. */
  async settle(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(resolve, ACCESS_TIME, false);
    });
    this.#isAllowed = await Promise.race([this.#access, late]);
    clearTimeout(timer);
  }

  /**
   * @param since `performance.now()` when it began
   * @param of the id of its route, where it belongs to one
   */
  add(phase: Phase, since: number, of?: string): void {
    const words = of === undefined ? '' : `;desc=${JSON.stringify(`${phase} of ${of}`)}`;
    this.#entries.push(`${phase}${words};dur=${toMs(performance.now() - since)}`);
  }

  write(response: ServerResponse): void {
    if (!this.#isAllowed || response.headersSent) return;
    response.setHeader(
      'Server-Timing',
      [...this.#entries, `total;dur=${toMs(performance.now() - this.#began)}`].join(', '),
    );
  }
}

/** Does the work of one phase, and keeps its time where somebody may see it. */
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
