import type { RouteShape, RouteSort, RoutesShape, SlowestShape } from '../../../shared/desk/shapes.ts';
import { DURATION_BUCKETS } from '../../engine/monitoring/metrics.ts';
import { type DeskLinks, fillLink } from '../links.ts';
import type { HourlySlowest, RouteStats } from '../store/servers/route-table.ts';

export function presentRoutes({ routes, hours }: RouteStats, sort: RouteSort, links: DeskLinks): RoutesShape {
  return {
    routes: routes
      .map(({ route, errors, buckets }): RouteShape => {
        const [p50, p99] = [toQuantile(buckets, 0.5), toQuantile(buckets, 0.99)];
        const requests = buckets.at(-1) ?? 0;
        return { route, requests, errors, ...(p50 !== undefined && { p50 }), ...(p99 !== undefined && { p99 }) };
      })
      .sort((one, other) => COMPARE[sort](one, other) || COMPARE.route(one, other)),
    slowest: hours.map((one) => presentSlowest(one, links)),
  };
}

type Compare = (one: RouteShape, other: RouteShape) => number;

/** The largest first, names in the order of the alphabet. */
const COMPARE: Readonly<Record<RouteSort, Compare>> = {
  requests: (one, other) => other.requests - one.requests,
  errors: (one, other) => other.errors / other.requests - one.errors / one.requests,
  p50: (one, other) => (other.p50 ?? LONGEST) - (one.p50 ?? LONGEST),
  p99: (one, other) => (other.p99 ?? LONGEST) - (one.p99 ?? LONGEST),
  route: (one, other) => (one.route < other.route ? -1 : 1),
};

const LONGEST = Number.MAX_SAFE_INTEGER;

/**
 * Estimates a quantile as Prometheus does, which assumes that durations are spread evenly within their bucket.
 *
 * @param buckets cumulative
 * @returns milliseconds; undefined above the largest bucket
 */
function toQuantile(buckets: readonly number[], share: number): number | undefined {
  const rank = share * (buckets.at(-1) ?? 0);
  const at = buckets.findIndex((count) => count >= rank);
  const to = DURATION_BUCKETS[at];
  if (to === undefined) return undefined;
  const from = DURATION_BUCKETS[at - 1] ?? 0;
  const below = buckets[at - 1] ?? 0;
  return 1000 * (from + ((to - from) * (rank - below)) / ((buckets[at] ?? 0) - below));
}

function presentSlowest({ hour, route, slowest }: HourlySlowest, links: DeskLinks): SlowestShape {
  const { at, ms, method, path, status, requestId, traceId, digest, timings } = slowest;
  return {
    hour,
    at,
    ms,
    method,
    route,
    path,
    ...(status !== undefined && { status }),
    requestId,
    ...(traceId !== undefined && { traceId }),
    ...(traceId !== undefined && links.trace && { traceLink: fillLink(links.trace, { traceId }) }),
    ...(digest !== undefined && { address: digest }),
    timings: timings.map(({ phase, of, ms: took }) => [of === undefined ? phase : `${phase} of ${of}`, took]),
  };
}
