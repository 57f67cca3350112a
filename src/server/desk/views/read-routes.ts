import type { RouteShape, RouteSort, RoutesShape } from '../../../shared/desk/shapes.ts';
import { DURATION_BUCKETS, type RouteTotals } from '../../engine/monitoring/metrics.ts';
import type { Desk } from '../desk.ts';
import type { DeskFacts } from '../pages/context.ts';

/** Reads the routes of an environment, with everything that this process has counted. */
export async function readRoutes(
  { ask, facts }: { readonly ask: Desk['ask']; readonly facts: DeskFacts },
  environment: string,
  sort: RouteSort,
): Promise<RoutesShape> {
  await facts.flushRoutes();
  const { totals, slowest } = await ask('readRoutes', environment || facts.environment);
  return { routes: sortRoutes([...totals].map(presentRoute), sort), slowest };
}

/** Routes in the order of the alphabet, or the largest first. */
export function sortRoutes(routes: readonly RouteShape[], sort: RouteSort): RouteShape[] {
  const byName = routes.toSorted((one, other) => (one.route < other.route ? -1 : 1));
  if (sort === 'route') return byName;
  const toSize = ({ [sort]: size = Number.MAX_SAFE_INTEGER }: RouteShape) => size;
  return byName.sort((one, other) => toSize(other) - toSize(one));
}

export function presentRoute([route, { errors, buckets }]: readonly [string, RouteTotals]): RouteShape {
  const requests = buckets.at(-1) ?? 0;
  const [p50, p99] = [toQuantile(buckets, 0.5), toQuantile(buckets, 0.99)];
  return {
    route,
    requests,
    errors: errors / requests,
    ...(p50 !== undefined && { p50 }),
    ...(p99 !== undefined && { p99 }),
  };
}

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
