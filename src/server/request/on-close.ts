import type { ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';

/**
 * Calls `listener` once the response closes, because it was sent or because its client left. If it has closed
 * already, `listener` runs before this returns. Use it instead of `res.once('close')` after an asynchronous
 * step: a closed response never emits that event again.
 */
export function onClose(res: ServerResponse, listener: () => void): void {
  if (res.closed) listener();
  else res.once('close', listener);
}

/** Stops a request whose response closed while an earlier step waited, so that later steps do no work for it. */
export function dropClosed(): RequestHandler {
  return function dropClosed(_req, res, next) {
    if (!res.closed) next();
  };
}
