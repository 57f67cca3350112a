import type { SlowestShape } from '../../shared/desk/shapes.ts';
import { Hour, Minute } from '../../shared/units.ts';
import type { ScrubPath } from '../engine/errors/scrub/secret-path.ts';
import { type Metrics, type RouteTotals, UNMATCHED } from '../engine/monitoring/metrics.ts';
import type { RequestInfo } from '../engine/request/request-info.ts';
import { toTimingName } from '../engine/request/timings.ts';

/** The requests of a route in one hour, to this process. */
export interface RouteHour extends RouteTotals {
  /** Its start (ms since 1970). */
  readonly hour: number;
  readonly route: string;
  /** The slowest request of the hour, if it was to this route. */
  readonly slowest?: SlowestShape | undefined;
}

export interface RouteHoursOptions extends Pick<Metrics, 'readRoutes'> {
  readonly scrubPath: ScrubPath;
  /** Replaces what was stored for the same routes and hours. */
  readonly store: (rows: readonly RouteHour[]) => Promise<unknown>;
}

/** The longest path that is kept (characters), and the most timings. */
const MAX_PATH = 200;
const MAX_TIMINGS = 20;

/** Stores each minute what the metrics know about the requests of the current hour. */
export function createRouteHours({ readRoutes, scrubPath, store }: RouteHoursOptions) {
  let hour = toHour();
  /** At the start of the hour. */
  let before: ReadonlyMap<string, RouteTotals> = new Map();
  let slowest: SlowestShape | undefined;
  schedule();

  /** Rejects if the store is unavailable. */
  async function flush(): Promise<void> {
    const totals = await readRoutes();
    const rows = [...totals].map(([route, { errors, buckets }]): RouteHour => {
      const base = before.get(route);
      return {
        hour,
        route,
        errors: errors - (base?.errors ?? 0),
        buckets: buckets.map((count, index) => count - (base?.buckets[index] ?? 0)),
        slowest: slowest?.route === route ? slowest : undefined,
      };
    });
    if (toHour() > hour) {
      hour = toHour();
      before = totals;
      slowest = undefined;
    }
    const requested = rows.filter(({ buckets }) => buckets.at(-1) !== 0);
    if (requested.length > 0) await store(requested);
  }

  /** Flushes at each full minute, so that an hour ends with its last request. */
  function schedule(): void {
    setTimeout(
      () => {
        flush().catch(() => undefined); // the next minute stores it too
        schedule();
      },
      Minute - (Date.now() % Minute),
    ).unref();
  }

  return {
    flush,
    /** @param status undefined if the visitor left */
    note(info: RequestInfo, status: number | undefined, ms: number): void {
      if (ms <= (slowest?.ms ?? 0)) return;
      const { method, path, route = UNMATCHED, requestId, digest, timings } = info;
      slowest = {
        at: Date.now(),
        ms,
        method,
        route,
        path: scrubPath(path, info.route).slice(0, MAX_PATH),
        ...(status !== undefined && { status }),
        requestId,
        ...(digest !== undefined && { address: digest }),
        timings: (timings?.entries ?? []).slice(0, MAX_TIMINGS).map((part) => [toTimingName(part), part.ms]),
      };
    },
  };
}

function toHour(): number {
  return Math.floor(Date.now() / Hour) * Hour;
}
