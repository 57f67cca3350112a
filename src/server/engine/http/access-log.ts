import type { Logger } from 'pino';
import type { ScrubPath } from '../errors/scrub/secret-path.ts';
import type { InFlight } from './in-flight.ts';
import { requestInfo } from './request-info.ts';
import type { Step } from './step.ts';

/** Probes come every second and say nothing new. */
const QUIET = new Set(['/livez', '/readyz']);

export interface AccessLogOptions {
  readonly log: Logger;
  /** Holds the request for as long as it is being answered. */
  readonly inFlight?: InFlight | undefined;
  readonly scrubPath?: ScrubPath | undefined;
}

/**
 * One line when a reply is complete or its visitor left. The search is not logged: it carries tokens
 * and names.
 */
export function accessLog({ log, inFlight, scrubPath = (path) => path }: AccessLogOptions): Step {
  return function accessLog(req, res, next) {
    // Kept: Node takes the socket off a request whose body was left unread.
    const { socket } = req;
    const before = socket.bytesWritten;
    const started = requestInfo(req);
    inFlight?.add(started);
    res.once('close', () => {
      const info = requestInfo(req);
      inFlight?.delete(started);
      const line = {
        requestId: info.requestId,
        traceId: info.knownTraceId,
        method: req.method,
        path: scrubPath(info.path, info.route),
        route: info.route,
        status: res.statusCode,
        ms: Math.round((performance.now() - info.startedAt) * 10) / 10,
        bytes: socket.bytesWritten - before,
        digest: info.digest,
        gone: res.writableFinished ? undefined : true,
      };
      if (QUIET.has(info.path)) log.debug(line, 'request');
      else log.info(line, 'request');
    });
    next();
  };
}
