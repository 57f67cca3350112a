import type { Step } from '../request/step.ts';

/**
 * What is told to one caller is kept by nobody on the way: the caller's own cache may hold what it has
 * read, and asks each time whether it still holds. A handler that knows better says so after it.
 */
export function privateReplies(): Step {
  return function privateReplies(req, res, next) {
    const isRead = req.method === 'GET' || req.method === 'HEAD';
    res.setHeader('Cache-Control', isRead ? 'private, no-cache' : 'no-store');
    next();
  };
}
