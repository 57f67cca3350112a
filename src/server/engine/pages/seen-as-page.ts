import type { RequestHandler } from 'express';
import { toPageUrl } from './page-url.ts';

/**
 * Runs an owner's step for page data under the page's own path: a gate in front of `/admin` holds
 * for `/_data/admin` as well.
 *
 * @returns what the step returns: Express waits for its promise, so that a rejection has an answer
 */
export function seenAsPage(step: RequestHandler): RequestHandler {
  return function seenAsPage(req, res, next) {
    const original = req.url;
    const pageUrl = toPageUrl(original);
    if (pageUrl === undefined) return step(req, res, next);
    req.url = pageUrl;
    return step(req, res, (error?: unknown) => {
      req.url = original;
      next(error);
    });
  };
}
