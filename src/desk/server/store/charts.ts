import { Day, Hour } from '../../../shared/units.ts';
import type { ChartShape } from '../../shared/shapes.ts';

/** How often an incident happened recently. The last bar of each chart is still growing. */
export interface Charts {
  /** The last 24 hours. */
  readonly day: ChartShape;
  /** The last 14 days, in UTC. */
  readonly fortnight: ChartShape;
}

/** How often an incident happened in an hour. */
export interface HourCount {
  /** The start of the hour (ms since 1970). */
  readonly at: number;
  readonly count: number;
}

export function toCharts(hours: readonly HourCount[], now: number): Charts {
  return { day: toChart(hours, now, Hour, 24), fortnight: toChart(hours, now, Day, CHART_DAYS) };
}

export const CHART_DAYS = 14;

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
export function toFirstBar(now: number, step: number, bars: number): number {
  return Math.floor(now / step) * step - (bars - 1) * step;
}
