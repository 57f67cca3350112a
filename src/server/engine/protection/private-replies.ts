import type { IncomingMessage } from 'node:http';
import type { Step } from '../request/step.ts';

/**
 * Keeps responses for one caller out of shared caches. The caller's own cache can store what it has read, but must
 * revalidate it each time. A handler can overwrite this.
 */
export function privateReplies(): Step {
  return function privateReplies(req, res, next) {
    res.setHeader('Cache-Control', toPrivateCaching(req));
    next();
  };
}

export function toPrivateCaching({ method }: Pick<IncomingMessage, 'method'>): string {
  return method === 'GET' || method === 'HEAD' ? 'private, no-cache' : 'no-store';
}
