import type { ErrorInfo, ReactNode } from 'react';
import type { PipeableStream } from 'react-dom/server';
import { prerenderToNodeStream } from 'react-dom/static';

interface PrerenderOptions {
  /** Not called for holes. */
  readonly onError: (thrown: unknown, info: ErrorInfo) => string | undefined;
  readonly onReady: () => void;
  readonly onFailed: (thrown: unknown) => void;
}

interface Prerendered {
  /** Empty if the page waits for a hole outside of every `<Suspense>`. */
  readonly text: string;
  /** What React needs to render the holes (JSON). Undefined if there are none. */
  readonly postponed: string | undefined;
}

/** The reason with which React postpones what is not ready. */
class Postponed extends Error {}

/**
 * Renders everything that is ready, and postpones the rest: holes, whose promises never settle. Data has settled before,
 * and needs microtasks only, so one turn of the event loop is enough for it. Other code that is still waited for, such
 * as a lazy component, is rendered with the holes.
 */
export class Prerender implements PipeableStream {
  result: Prerendered | undefined;
  readonly #controller = new AbortController();

  constructor(page: ReactNode, { onError, onReady, onFailed }: PrerenderOptions) {
    const { signal } = this.#controller;
    prerenderToNodeStream(page, {
      signal,
      progressiveChunkSize: Number.MAX_SAFE_INTEGER, // part of the state, and JSON has no infinity
      onError: (thrown, info) => (thrown instanceof Postponed ? undefined : onError(thrown, info)),
    })
      .then(async ({ prelude, postponed }) => {
        const chunks: Buffer[] = [];
        for await (const chunk of prelude) chunks.push(Buffer.from(chunk));
        const text = Buffer.concat(chunks).toString();
        this.result = { text, postponed: postponed === null ? undefined : JSON.stringify(postponed) };
        onReady();
      })
      .catch(onFailed);
    setImmediate(() => setImmediate(() => this.abort(new Postponed())));
  }

  abort(reason?: unknown): void {
    this.#controller.abort(reason);
  }

  pipe<Target extends NodeJS.WritableStream>(target: Target): Target {
    target.write(this.result?.text ?? '');
    target.end();
    return target;
  }
}
