import { MiB } from '../../shared/units.ts';
import type { MoreChecks } from './more-checks.ts';

/** The queue of reports for Sentry (bytes). */
const OUTBOX_SPACE = 64 * MiB;

/** Checks of the place that failures go to: the log, and Sentry. */
export const DESTINATION_CHECKS: MoreChecks = {
  listSentences: () => [],
  checkSettings: async () => [],
  checkStore: async () => [],
  describeFolder: () => ({
    name: 'reports that wait for Sentry',
    isPrecious: false,
    maxBytes: OUTBOX_SPACE,
    advice: 'Free some space.',
  }),
  readKeptToken: () => undefined,
  checkSite: async () => [],
  page: undefined,
  hideMetrics: {},
};
