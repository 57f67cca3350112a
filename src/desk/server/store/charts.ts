import { Day, Hour } from '../../../shared/units.ts';
import type { ChartShape } from '../../shared/shapes.ts';
import type { IncidentKey } from './incident-key.ts';
import { placeholders, type Sql } from './sql.ts';

/** How often an incident happened recently. The last bar of each chart is still growing. */
export interface Charts {
  /** The last 24 hours. */
  readonly day: ChartShape;
  /** The last 14 days, in UTC. */
  readonly fortnight: ChartShape;
}

/** How often an incident happened in an hour. */
interface HourCount {
  readonly key: IncidentKey;
  /** The start of the hour (ms since 1970). */
  readonly at: number;
  readonly count: number;
}

export const CHART_DAYS = 14;

/** Reads the charts of some incidents in one query. @param now where they end (ms since 1970) */
export async function readCharts(
  sql: Sql,
  keys: readonly IncidentKey[],
  now: number,
): Promise<(key: IncidentKey) => Charts> {
  const hours =
    keys.length === 0
      ? []
      : await sql.all<HourCount>(
          `SELECT key, hour AS at, server_count + browser_count AS count FROM desk_hours
            WHERE key IN (${placeholders(keys)}) AND hour >= ?`,
          [...keys, toFirstBar(now, Day, CHART_DAYS)],
        );
  const groups = Map.groupBy(hours, ({ key }) => key);
  return (key) => {
    const own = groups.get(key) ?? [];
    return { day: toChart(own, now, Hour, 24), fortnight: toChart(own, now, Day, CHART_DAYS) };
  };
}

function toChart(hours: readonly HourCount[], now: number, step: number, bars: number): ChartShape {
  const start = toFirstBar(now, step, bars);
  const counts = new Array<number>(bars).fill(0);
  for (const { at, count } of hours) {
    if (at < start) continue;
    // Hours in the future, from a clock that was ahead, count in the last bar.
    const bar = Math.min(Math.floor((at - start) / step), bars - 1);
    counts[bar] = (counts[bar] ?? 0) + count;
  }
  return { start, step, counts };
}

/** Returns the start of a chart (ms since 1970). */
function toFirstBar(now: number, step: number, bars: number): number {
  return Math.floor(now / step) * step - (bars - 1) * step;
}
