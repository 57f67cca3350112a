import type { CounterLabels, CounterName } from './counters.ts';

/**
 * Adds to a counter that operators see.
 *
 * @param labels few and bounded: never what a visitor sent
 */
export type Count = <Name extends CounterName>(name: Name, labels: CounterLabels<Name>, by?: number) => void;
