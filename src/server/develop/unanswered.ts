import type { Logger } from 'pino';
import { Second } from '../../shared/units.ts';
import type { Step } from '../request/step.ts';

/** After the deadline of a page, which fails by itself (ms). */
const PATIENCE = 20 * Second;

/** Warns of a request without a response. Most often, a step has forgotten to call `next()`, and nothing else says so. */
export function warnOfUnanswered(log: Pick<Logger, 'warn'>): Step {
  return function warnOfUnanswered(req, res, next) {
    const path = req.url?.replace(/\?.*$/s, '');
    const timer = setTimeout(() => {
      if (!res.headersSent) log.warn({ method: req.method, path }, UNANSWERED);
    }, PATIENCE);
    res.once('close', () => clearTimeout(timer));
    next();
  };
}

const UNANSWERED =
  'A request has had no response for 20 s. A step or handler in src/server/product has to send one, or call next().';
