/** What a counter tells, and the labels that it has. */
export interface CounterWords {
  readonly help: string;
  readonly labels?: readonly string[];
}

/** Every counter that the server's parts add to by `count()`. Each label has few values, whatever visitors send. */
export const COUNTERS = {
  spillway_failures_total: {
    help: 'Failures that were given an address, by where they happened and what they are.',
    labels: ['side', 'kind'],
  },
  spillway_reports_ignored_total: {
    help: 'What was thrown or reported and is no failure: redirects, visitors who left, noise of browsers.',
    labels: ['reason'],
  },
  spillway_reports_past_cap_total: { help: "Browsers' reports past the bound of new incidents an hour." },
  spillway_requests_shed_total: {
    help: 'Requests that were refused with 503 because there was too much to do, by what was asked for and why.',
    labels: ['what', 'reason'],
  },
  spillway_broken_requests_total: {
    help: 'Requests that could not be parsed or did not come in time, by the status of the answer.',
    labels: ['status'],
  },
  spillway_connections_refused_total: {
    help: 'Connections that were closed as soon as they opened, by the limit that was reached: address or total.',
    labels: ['limit'],
  },
  spillway_connections_closed_total: {
    help: 'Idle connections that were closed to make room for new ones, by the limit that was reached: address or total.',
    labels: ['limit'],
  },
  spillway_tunnel_refused_total: {
    help: "Browsers' reports that were refused, by the status of the answer.",
    labels: ['status'],
  },
  spillway_tunnel_items_total: {
    help: 'Items of the envelopes that browsers sent, by type and by what became of them.',
    labels: ['type', 'outcome'],
  },
  spillway_desk_deleted_rows_total: {
    help: "Rows that were deleted from the desk's store, by table and by reason: age, size or orphan.",
    labels: ['table', 'reason'],
  },
  spillway_desk_worker_restarts_total: { help: 'Restarts of the desk worker after a crash.' },
  spillway_desk_questions_refused_total: {
    help: 'Questions to the desk worker without an answer: it was gone, it was late, or it had too many.',
    labels: ['reason'],
  },
  spillway_desk_query_failures_total: {
    help: 'Queries that the database of the desk refused or did not finish in time.',
    labels: ['reason'],
  },
  spillway_journal_refused_total: {
    help: 'Batches of the journal that the store refused: tried again later, or stored without search text and notifications.',
    labels: ['outcome'],
  },
  spillway_dead_letters_total: {
    help: 'Entries of the journal that the store keeps refusing: kept in dead-letters.ndjson, or dropped because that is full.',
    labels: ['outcome'],
  },
  spillway_outbox_sent_total: {
    help: 'Envelopes that the error-reporting service took.',
    labels: ['category'],
  },
  spillway_outbox_dropped_total: {
    help: 'Envelopes for the error-reporting service that were given up.',
    labels: ['category', 'reason'],
  },
} as const satisfies Readonly<Record<string, CounterWords>>;

export type CounterName = keyof typeof COUNTERS;

/** A counter that has labels needs all of them. */
export type CounterLabels<Name extends CounterName> = (typeof COUNTERS)[Name] extends {
  readonly labels: readonly (infer Label extends string)[];
}
  ? Readonly<Record<Label, string>>
  : Readonly<Record<never, string>>;
