import type { Count, CounterTable } from '#engine/tracker';

/** The counters of the desk in `/metrics`. */
export const DESK_COUNTERS = {
  spillway_desk_worker_restarts_total: { help: 'Restarts of the desk worker after a crash.' },
  spillway_desk_calls_refused_total: {
    help: 'Calls that the desk worker did not answer because it was gone, late or overloaded.',
    labels: ['reason'],
  },
  spillway_desk_query_failures_total: {
    help: "Queries that the desk's database refused or did not finish in time.",
    labels: ['reason'],
  },
  spillway_journal_refused_total: {
    help: 'Journal entries that the store refused: batches to retry, and entries that were dropped with a log line.',
    labels: ['outcome'],
    zero: [{ outcome: 'dropped' }],
  },
} as const satisfies CounterTable;

export type DeskCount = Count<typeof DESK_COUNTERS>;
