import type { Step } from '../request/step.ts';

/**
 * Keeps responses for one caller out of shared caches. The caller's own cache can store what it has read, but must
 * revalidate it each time. A handler can overwrite this.
 */
export function privateReplies(): Step {
  return function privateReplies(req, res, next) {
    const isRead = req.method === 'GET' || req.method === 'HEAD';
    res.setHeader('Cache-Control', isRead ? 'private, no-cache' : 'no-store');
    next();
  };
}
