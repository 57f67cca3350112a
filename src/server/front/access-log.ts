import type { Logger } from 'pino';
import type { ScrubPath } from '../errors/scrub/secret-path.ts';
import { type RequestInfo, requestInfo } from '../request/request-info.ts';
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

/** A request in flight, as it is recorded in case the process dies. */
export interface InFlightRequest {
  readonly requestId: string;
  readonly method: string;
  /** The route's pattern, or the path if no route is known. */
  readonly route: string;
  /** How long it has been in flight (ms). */
  readonly ms: number;
}

/** More would not explain a process's death any better, and the list is written every second (count). */
const MAX_LISTED = 50;

export class InFlight {
  // An array, not a Set: see `connections.ts`.
  readonly #requests: RequestInfo[] = [];
  readonly #scrubPath: ScrubPath;

  constructor(scrubPath: ScrubPath) {
    this.#scrubPath = scrubPath;
  }

  get size(): number {
    return this.#requests.length;
  }

  add(info: RequestInfo): void {
    this.#requests.push(info);
  }

  delete(info: RequestInfo): void {
    const place = this.#requests.indexOf(info);
    if (place >= 0) this.#requests.splice(place, 1);
  }

  /** Oldest first, so that requests that hang are in the list. */
  list(): InFlightRequest[] {
    const now = performance.now();
    const listed: InFlightRequest[] = [];
    for (const { requestId, method, route, path, startedAt, isStream } of this.#requests) {
      if (isStream) continue;
      if (listed.length === MAX_LISTED) break;
      listed.push({
        requestId,
        method,
        route: route ?? this.#scrubPath(path, undefined),
        ms: Math.round(now - startedAt),
      });
    }
    return listed;
  }
}
