import type { Logger } from 'pino';
import type { InFlight } from '../connection/in-flight.ts';
import type { ScrubPath } from '../errors/scrub/secret-path.ts';
import { requestInfo } from '../request/request-info.ts';
import type { Step } from '../request/step.ts';
import type { Metrics } from './metrics.ts';

/** Probes and scrapers call these every second. */
const QUIET = new Set(['/livez', '/readyz', '/metrics']);

interface AccessLogOptions {
  readonly log: Logger;
  /** Tracks the request while it is being answered. */
  readonly inFlight?: InFlight | undefined;
  readonly scrubPath: ScrubPath;
  /** Receives each reply that has ended. */
  readonly metrics?: Pick<Metrics, 'observeRequest'> | undefined;
}

/**
 * Logs one line when a reply is complete or its visitor has left. The query is not logged, because it can contain
 * tokens and names.
 */
export function accessLog({ log, inFlight, scrubPath, metrics }: AccessLogOptions): Step {
  return function accessLog(req, res, next) {
    // Node removes the socket from a request whose body was not read.
    const { socket } = req;
    const before = socket.bytesWritten;
    const started = requestInfo(req);
    inFlight?.add(started);
    res.once('close', () => {
      const info = requestInfo(req);
      inFlight?.delete(started);
      const { path, route } = info;
      const { statusCode: status } = res;
      const isGone = !res.writableFinished;
      const ms = performance.now() - info.startedAt;
      metrics?.observeRequest({
        method: info.method,
        route,
        status,
        isGone,
        ms,
      });
      const level = QUIET.has(path) ? 'debug' : 'info';
      if (!log.isLevelEnabled(level)) return;
      const line = {
        requestId: info.requestId,
        traceId: info.knownTraceId,
        method: req.method,
        path: scrubPath(path, route),
        route,
        status,
        ms: Math.round(ms * 10) / 10,
        bytes: socket.bytesWritten - before,
        address: info.address,
        digest: info.digest,
        gone: isGone || undefined,
      };
      log[level](line, 'request');
    });
    next();
  };
}
