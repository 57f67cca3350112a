import type { ServerResponse } from 'node:http';
import { requestInfo } from '../request/request-info.ts';
import type { Step } from '../request/step.ts';

export interface Readiness {
  /** The server is about to end: no new work, please. */
  readonly draining: boolean;
  /** What else an operator wants to know, such as that the desk's store is away. Nothing of it counts. */
  readonly details?: () => Readonly<Record<string, string>>;
}

/**
 * Stands before the check of the host, because probes carry an address there. Liveness is the
 * process alone; readiness fails while draining alone: what is degraded must not take the site down.
 */
export function health({ readiness }: { readiness: Readiness }): Step {
  return function health(req, res, next) {
    const { path } = requestInfo(req);
    if (path !== '/livez' && path !== '/readyz') {
      next();
      return;
    }
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      res.setHeader('Allow', 'GET, HEAD');
      send(res, 405, 'text/plain; charset=utf-8', 'Ask with GET.\n');
      return;
    }
    if (path === '/livez') {
      send(res, 200, 'text/plain; charset=utf-8', 'ok\n');
      return;
    }
    const status = readiness.draining ? 'draining' : 'ready';
    send(res, readiness.draining ? 503 : 200, 'application/json', JSON.stringify({ status, ...readiness.details?.() }));
  };
}

function send(res: ServerResponse, status: number, type: string, body: string): void {
  res.statusCode = status;
  res.setHeader('Content-Type', type);
  res.setHeader('Content-Length', Buffer.byteLength(body));
  res.setHeader('Cache-Control', 'no-store');
  res.end(body);
}
