import type { RequestHandler } from 'express';
import { DATA_PREFIX } from '../../../shared/engine/protocol.ts';

/**
 * Runs an owner's steps for page data under the page's own path: a gate in front of `/admin` holds
 * for `/_data/admin` as well.
 */
export function seenAsPage(steps: RequestHandler): RequestHandler {
  return function seenAsPage(req, res, next) {
    const original = req.url;
    if (!original.startsWith(`${DATA_PREFIX}/`)) {
      steps(req, res, next);
      return;
    }
    req.url = original.slice(DATA_PREFIX.length);
    steps(req, res, (error?: unknown) => {
      req.url = original;
      next(error);
    });
  };
}
