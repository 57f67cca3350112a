import type { RequestHandler } from 'express';
import { DATA_PREFIX } from '../../../shared/engine/protocol.ts';

/**
 * Runs an owner's step for page data under the page's own path: a gate in front of `/admin` holds
 * for `/_data/admin` as well.
 */
export function seenAsPage(step: RequestHandler): RequestHandler {
  return function seenAsPage(req, res, next) {
    const original = req.url;
    if (!original.startsWith(`${DATA_PREFIX}/`)) {
      step(req, res, next);
      return;
    }
    req.url = original.slice(DATA_PREFIX.length);
    step(req, res, (error?: unknown) => {
      req.url = original;
      next(error);
    });
  };
}
