import { Day } from '../../../../shared/units.ts';
import type { RouteHour, RouteTotals, SlowRequest } from '../../../engine/monitoring/route-hours.ts';
import { insertRows } from '../sql.ts';
import type { StoreContext } from '../store-context.ts';

/** Longer than what is shown (ms). */
const KEPT = 2 * Day;

export interface RouteStats {
  /** By route, over all processes. */
  readonly routes: readonly (RouteTotals & { readonly route: string })[];
  /** The slowest request of each hour, the latest hour first. */
  readonly hours: readonly HourlySlowest[];
}

export interface HourlySlowest {
  /** Its start (ms since 1970). */
  readonly hour: number;
  readonly route: string;
  readonly slowest: SlowRequest;
}

/** Stores the requests of one process, and deletes old ones. @param run names the process */
export async function storeRoutes(
  { driver, environment }: StoreContext,
  run: string,
  rows: readonly RouteHour[],
): Promise<void> {
  await insertRows(
    driver,
    'desk_routes',
    rows.map(({ hour, route, errors, buckets, slowest }) => ({
      environment,
      hour,
      run,
      route,
      errors,
      buckets: JSON.stringify(buckets),
      slowest: slowest ? JSON.stringify(slowest) : null,
    })),
    `ON CONFLICT (environment, hour, run, route)
      DO UPDATE SET errors = excluded.errors, buckets = excluded.buckets, slowest = excluded.slowest`,
  );
  await driver.run('DELETE FROM desk_routes WHERE environment = ? AND hour < ?', [environment, Date.now() - KEPT]);
}

/** Adds up the requests of all processes in the current hour and the 23 before. */
export async function readRoutes({ reader }: StoreContext, environment: string): Promise<RouteStats> {
  const rows = await reader.all<Omit<RouteHour, 'buckets' | 'slowest'> & { buckets: string; slowest: string | null }>(
    'SELECT hour, route, errors, buckets, slowest FROM desk_routes WHERE environment = ? AND hour > ? ORDER BY hour DESC',
    [environment, Date.now() - Day],
  );
  const routes = new Map<string, RouteTotals>();
  const hours = new Map<number, HourlySlowest>();
  for (const { hour, route, errors, buckets: text, slowest: slow } of rows) {
    const buckets = JSON.parse(text) as number[]; // as `storeRoutes` wrote them
    const known = routes.get(route);
    routes.set(route, {
      errors: errors + (known?.errors ?? 0),
      buckets: buckets.map((count, index) => count + (known?.buckets[index] ?? 0)),
    });
    const slowest = slow === null ? undefined : (JSON.parse(slow) as SlowRequest);
    if (slowest && slowest.ms > (hours.get(hour)?.slowest.ms ?? 0)) hours.set(hour, { hour, route, slowest });
  }
  return { routes: [...routes].map(([route, totals]) => ({ route, ...totals })), hours: [...hours.values()] };
}

export const queries = { storeRoutes, readRoutes };
