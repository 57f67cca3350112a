import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** One thing that happens to a request. It answers, or calls `next()`; it fits in an Express app and in front of one. */
export type Step = (req: IncomingMessage, res: ServerResponse, next: () => void) => void;

/** Runs the steps in order and hands what none of them answered to `last`. */
export function chain(steps: readonly Step[], last: RequestListener): RequestListener {
  return function chain(req, res) {
    let position = 0;
    function next(): void {
      const step = steps[position];
      position += 1;
      if (step) step(req, res, next);
      else last(req, res);
    }
    next();
  };
}
