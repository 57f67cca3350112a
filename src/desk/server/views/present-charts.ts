import { Day, Hour } from '../../../shared/units.ts';
import type { ChartShape, MarkShape } from '../../shared/shapes.ts';
import type { IncidentHour } from '../store/records.ts';

const HOURS = 24;
const DAYS = 14;

/**
 * Returns charts of the last 24 hours, by hour, and of the last 14 days, by day in UTC. The last bar of each is still
 * growing.
 */
export function presentCharts(hours: readonly IncidentHour[], now: number): { day: ChartShape; fortnight: ChartShape } {
  return { day: toChart(hours, now, Hour, HOURS), fortnight: toChart(hours, now, Day, DAYS) };
}

function toChart(hours: readonly IncidentHour[], now: number, step: number, bars: number): ChartShape {
  const start = Math.floor(now / step) * step - (bars - 1) * step;
  const counts = new Array<number>(bars).fill(0);
  for (const { at, server, browser } of hours) {
    if (at < start) continue;
    // Times from a clock that was ahead count in the last bar.
    const bar = Math.min(Math.floor((at - start) / step), bars - 1);
    counts[bar] = (counts[bar] ?? 0) + server + browser;
  }
  return { start, step, counts };
}

/**
 * Returns the releases that were first started within the longer chart, oldest first. A rebuilt release counts once.
 */
export function presentMarks(
  builds: readonly { readonly release: string; readonly firstAt: number }[],
  now: number,
): MarkShape[] {
  const first = new Map<string, number>();
  for (const { release, firstAt } of builds) first.set(release, Math.min(firstAt, first.get(release) ?? firstAt));
  return [...first]
    .map(([release, at]) => ({ release, at }))
    .filter(({ at }) => at > now - DAYS * Day)
    .sort((left, right) => left.at - right.at)
    .slice(-MAX_MARKS);
}

/** More lines than bars would be illegible (a count). */
const MAX_MARKS = 14;
