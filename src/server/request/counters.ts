/** Describes a counter and its labels. */
interface CounterWords {
  readonly help: string;
  readonly labels?: readonly string[];
  /** Series that exist from the start. Without one, a sum has no value, and an increase misses the first event. */
  readonly zero?: readonly Readonly<Record<string, string>>[];
}

/** Counters by name. */
export type CounterTable = Readonly<Record<string, CounterWords>>;

/** Every counter that the server's parts increase with `count()`. Each label has few values, whatever visitors send. */
export const COUNTERS = {
  spillway_failures_total: {
    help: 'Failures, by the side where they happened and by kind.',
    labels: ['side', 'kind'],
    zero: [
      { side: 'server', kind: 'exception' },
      { side: 'browser', kind: 'exception' },
    ],
  },
  spillway_reports_ignored_total: {
    help: 'Thrown values and reports that are not failures: redirects, visitors who left, ignored browser errors.',
    labels: ['reason'],
  },
  spillway_reports_past_cap_total: { help: 'Browser reports beyond the limit of new incidents per hour.' },
  spillway_requests_shed_total: {
    help: 'Requests refused with 503 because the server was overloaded, by what was requested and by reason.',
    labels: ['what', 'reason'],
    zero: [{ what: 'page', reason: 'renders' }],
  },
  spillway_broken_requests_total: {
    help: 'Requests that could not be parsed or did not arrive in time, by response status.',
    labels: ['status'],
  },
  spillway_connections_refused_total: {
    help: 'Connections closed as soon as they opened, by the limit that was reached: address or total.',
    labels: ['limit'],
  },
  spillway_connections_closed_total: {
    help: 'Connections closed to make room, by the limit that was reached: address or total (idle ones), or unsent (clients that do not read).',
    labels: ['limit'],
  },
  spillway_tunnel_refused_total: {
    help: 'Browser reports that were refused, by response status.',
    labels: ['status'],
  },
  spillway_tunnel_items_total: {
    help: 'Items in envelopes from browsers, by type and outcome.',
    labels: ['type', 'outcome'],
  },
  spillway_log_failed_writes_total: {
    help: 'Failed writes of log lines, such as to a full disk. Lines wait in memory, and are dropped beyond 4 MiB.',
  },
  spillway_sentry_dropped_total: {
    help: 'Envelopes for Sentry that were dropped, because its queue was full or it refused them.',
    labels: ['reason'],
  },
} as const satisfies CounterTable;

/** A counter that has labels needs all of them. */
type CounterLabels<Words extends CounterWords> = Words extends {
  readonly labels: readonly (infer Label extends string)[];
}
  ? Readonly<Record<Label, string>>
  : Readonly<Record<never, string>>;

/**
 * Adds to a counter in the metrics.
 *
 * @param labels few and bounded: never values that a visitor sent
 */
export type Count<Table extends CounterTable = typeof COUNTERS> = <Name extends keyof Table>(
  name: Name,
  labels: CounterLabels<Table[Name]>,
  by?: number,
) => void;
