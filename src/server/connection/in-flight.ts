import type { ScrubPath } from '../errors/scrub/secret-path.ts';
import type { RequestInfo } from '../request/request-info.ts';

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
