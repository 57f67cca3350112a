import type { Step } from '../request/step.ts';

/**
 * Asks for the body of a request that waits for it (`Expect: 100-continue`). It stands behind all
 * that may refuse a request unread: Node, left alone, asks before any of our steps has run.
 */
export function expectContinue(): Step {
  return function expectContinue(req, res, next) {
    if (req.headers.expect !== undefined && /^100-continue$/i.test(req.headers.expect)) res.writeContinue();
    next();
  };
}
