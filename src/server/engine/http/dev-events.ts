import type { RequestHandler } from 'express';
import { Millisecond } from '../../../shared/units.ts';
import type { Readiness } from './health.ts';

/** How often an open stream looks whether the server stops (ms). */
const LOOK_INTERVAL = 50 * Millisecond;

/**
 * In development: a stream of server-sent events that says nothing. It breaks when the server is
 * exchanged, and a page whose stream comes back knows that it is out of date.
 */
export function devEvents(readiness: Readiness): RequestHandler {
  return function devEvents(_req, res) {
    res.setHeader('Content-Type', 'text/event-stream');
    res.setHeader('Cache-Control', 'no-store');
    res.write('retry: 200\n\n');
    const timer = setInterval(() => {
      if (readiness.draining) res.end();
    }, LOOK_INTERVAL);
    res.on('close', () => clearInterval(timer));
  };
}
