import type { SlowestShape } from '../../../../shared/desk/shapes.ts';
import { Day } from '../../../../shared/units.ts';
import type { RouteTotals } from '../../../engine/monitoring/metrics.ts';
import type { RouteHour } from '../../route-hours.ts';
import { insertRows } from '../sql.ts';
import type { StoreContext } from '../store-context.ts';

/** Longer than what is shown (ms). */
const KEPT = 2 * Day;

export interface RouteStats {
  /** Over all processes, by route. */
  readonly totals: ReadonlyMap<string, RouteTotals>;
  /** The slowest request of each hour, the latest hour first. */
  readonly slowest: readonly SlowestShape[];
}

/** Stores the requests of one process, and deletes old ones. @param run names the process */
export async function storeRoutes(
  { driver, environment }: StoreContext,
  run: string,
  hours: readonly RouteHour[],
): Promise<void> {
  const rows = hours.map(({ buckets, slowest, ...row }) => ({
    ...row,
    environment,
    run,
    buckets: JSON.stringify(buckets),
    slowest: slowest ? JSON.stringify(slowest) : null,
  }));
  await insertRows(
    driver,
    'desk_routes',
    rows,
    `ON CONFLICT (environment, hour, run, route)
      DO UPDATE SET errors = excluded.errors, buckets = excluded.buckets, slowest = excluded.slowest`,
  );
  await driver.run('DELETE FROM desk_routes WHERE environment = ? AND hour < ?', [environment, Date.now() - KEPT]);
}

/** Adds up the requests of all processes in the current hour and the 23 before. */
export async function readRoutes({ reader }: StoreContext, environment: string): Promise<RouteStats> {
  const rows = await reader.all<{
    hour: number;
    route: string;
    errors: number;
    buckets: string;
    slowest: string | null;
  }>(
    'SELECT hour, route, errors, buckets, slowest FROM desk_routes WHERE environment = ? AND hour > ? ORDER BY hour DESC, route',
    [environment, Date.now() - Day],
  );
  const totals = new Map<string, RouteTotals>();
  const hours = new Map<number, SlowestShape>();
  for (const { hour, route, errors, buckets, slowest } of rows) {
    const known = totals.get(route) ?? { errors: 0, buckets: [] };
    const counts = (JSON.parse(buckets) as number[]).map((count, index) => count + (known.buckets[index] ?? 0));
    totals.set(route, { errors: errors + known.errors, buckets: counts });
    const slow = slowest === null ? undefined : (JSON.parse(slowest) as SlowestShape); // as `storeRoutes` wrote it
    if (slow && slow.ms > (hours.get(hour)?.ms ?? 0)) hours.set(hour, slow);
  }
  return { totals, slowest: [...hours.values()] };
}

export const queries = { storeRoutes, readRoutes };
