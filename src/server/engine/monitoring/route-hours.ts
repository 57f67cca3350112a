import { Day, Hour, Minute } from '../../../shared/units.ts';
import type { RequestInfo } from '../request/request-info.ts';
import type { Timing } from '../request/timings.ts';

/** What the metrics know about the requests of a route since the start. */
export interface RouteTotals {
  /** Responses with a status of 500 or more. */
  readonly errors: number;
  /** How many requests took at most as long as each of `DURATION_BUCKETS`, and last, how many there were. */
  readonly buckets: readonly number[];
}

/** The requests of a route in one hour, to this process. */
export interface RouteHour extends RouteTotals {
  /** Its start (ms since 1970). */
  readonly hour: number;
  readonly route: string;
  /** The slowest request of the hour, if it was to this route. */
  readonly slowest?: SlowRequest | undefined;
}

export interface SlowRequest {
  /** Its end (ms since 1970). */
  readonly at: number;
  readonly ms: number;
  readonly method: string;
  /** Without secrets. */
  readonly path: string;
  /** Undefined if the visitor left. */
  readonly status?: number | undefined;
  readonly requestId: string;
  readonly traceId?: string | undefined;
  /** The address of its failure. */
  readonly digest?: string | undefined;
  readonly timings: readonly Timing[];
}

export interface RouteHoursOptions {
  /** Returns the totals since the start, by route. */
  readonly read: () => Promise<ReadonlyMap<string, RouteTotals>>;
  /** Replaces what was stored for the same routes and hours. */
  readonly store: (rows: readonly RouteHour[]) => Promise<unknown>;
}

export type RouteHours = ReturnType<typeof createRouteHours>;

/** The longest path that is kept (characters), and the most timings. */
const MAX_PATH = 200;
const MAX_TIMINGS = 20;

/** The label of requests that no route answered. */
export const UNMATCHED = 'unmatched';

/** Stores each minute what the metrics know about the current hour. Hours that could not be stored are kept for a day. */
export function createRouteHours({ read, store }: RouteHoursOptions) {
  let hour = toHour();
  let before: ReadonlyMap<string, RouteTotals> = new Map();
  let slowest: (SlowRequest & { readonly route: string }) | undefined;
  let ended: readonly RouteHour[] = [];
  let hasStored = false;
  let flushing: Promise<unknown> = Promise.resolve();
  let timer = schedule();

  function toRows(totals: ReadonlyMap<string, RouteTotals>): RouteHour[] {
    return [...totals].flatMap(([route, { errors, buckets }]) => {
      const base = before.get(route);
      const since = buckets.map((count, index) => count - (base?.buckets[index] ?? 0));
      if (since.at(-1) === 0) return [];
      const { route: of, ...request } = slowest ?? {};
      const slow = of === route ? (request as SlowRequest) : undefined;
      return [{ hour, route, errors: errors - (base?.errors ?? 0), buckets: since, slowest: slow }];
    });
  }

  async function write(): Promise<void> {
    const totals = await read();
    const rows = [...ended, ...toRows(totals)];
    const now = toHour();
    if (now > hour) {
      ended = rows.filter((row) => row.hour > now - Day);
      hour = now;
      before = totals;
      slowest = undefined;
    }
    if (rows.length > 0) await store(rows);
    ended = [];
    hasStored = true;
  }

  /** Rejects if the store is unavailable. */
  function flush(): Promise<void> {
    const written = flushing.then(write);
    flushing = written.catch(() => undefined);
    return written;
  }

  /** Flushes at each full minute, so that an hour ends with its last request. */
  function schedule(): NodeJS.Timeout {
    return setTimeout(
      () => {
        void flush().catch(() => undefined); // the next one stores it too
        timer = schedule();
      },
      Minute - (Date.now() % Minute),
    ).unref();
  }

  return {
    flush,
    /** Whether a request of this duration is the slowest of its hour so far. */
    isSlowest: (ms: number): boolean => ms > (slowest?.ms ?? 0),
    note(info: RequestInfo, ended: Pick<SlowRequest, 'path' | 'status' | 'ms'>): void {
      slowest = { ...ended, ...toSlow(info), path: ended.path.slice(0, MAX_PATH) };
    },
    async close(): Promise<void> {
      clearTimeout(timer);
      // A server that ends soon, as in development, does not open the store for this.
      if (hasStored) await flush().catch(() => undefined);
    },
  };
}

function toSlow({ method, route = UNMATCHED, requestId, knownTraceId, digest, timings }: RequestInfo) {
  return {
    at: Date.now(),
    method,
    route,
    requestId,
    traceId: knownTraceId,
    digest,
    timings: timings?.entries.slice(0, MAX_TIMINGS) ?? [],
  };
}

function toHour(): number {
  return Math.floor(Date.now() / Hour) * Hour;
}
