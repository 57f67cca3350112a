import type { Count } from './count.ts';

/** What was counted since the start, by name and labels. */
export class Counters {
  readonly #totals = new Map<string, number>();

  readonly count: Count = (name, labels = {}, by = 1) => {
    const key = toKey(name, labels);
    this.#totals.set(key, (this.#totals.get(key) ?? 0) + by);
  };

  /** By name as Prometheus writes it: `spillway_reports_ignored_total{reason="redirect"}`. */
  list(): Record<string, number> {
    return Object.fromEntries(this.#totals);
  }
}

function toKey(name: string, labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return pairs.length === 0 ? name : `${name}{${pairs.join(',')}}`;
}
