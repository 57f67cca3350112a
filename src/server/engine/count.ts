/**
 * Adds to a counter that operators see. Names are Prometheus' own kind: `spillway_reports_ignored_total`.
 *
 * @param labels few and bounded: never what a visitor sent
 */
export type Count = (name: string, labels?: Readonly<Record<string, string>>, by?: number) => void;
