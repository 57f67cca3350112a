import type { CounterLabels, CounterName } from './counters.ts';

/**
 * Adds to a counter in the metrics.
 *
 * @param labels few and bounded: never values that a visitor sent
 */
export type Count = <Name extends CounterName>(name: Name, labels: CounterLabels<Name>, by?: number) => void;
