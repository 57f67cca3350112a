import type { ScrubPath } from '../errors/scrub/secret-path.ts';
import type { RequestInfo } from '../request/request-info.ts';

/** A request that is being answered, as a run that ends without a word leaves it behind. */
export interface InFlightRequest {
  readonly requestId: string;
  readonly method: string;
  /** The route's pattern, or the path where no route is known. */
  readonly route: string;
  /** How long it has been under way (ms). */
  readonly ms: number;
}

/** More would say no more of why a process died, and are written each second (a count). */
const MAX_LISTED = 50;

/** The requests that are being answered. */
export class InFlight {
  readonly #requests = new Set<RequestInfo>();
  readonly #scrubPath: ScrubPath;

  constructor(scrubPath: ScrubPath) {
    this.#scrubPath = scrubPath;
  }

  get size(): number {
    return this.#requests.size;
  }

  add(info: RequestInfo): void {
    this.#requests.add(info);
  }

  delete(info: RequestInfo): void {
    this.#requests.delete(info);
  }

  /** The oldest first: what hangs is among them. */
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
