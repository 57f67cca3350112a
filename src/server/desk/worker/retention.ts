import { MiB, Minute } from '../../../shared/units.ts';
import type { DeskRetention } from '../../config.ts';
import type { DeskLog } from '../desk-log.ts';
import { SIZE_GROWTH } from '../limits.ts';
import type { RetentionReport } from '../store/retention/retention.ts';
import type { Store } from '../store/store.ts';

export interface RetentionOptions {
  readonly build: string;
  readonly limits: DeskRetention;
  readonly onRetained: (report: RetentionReport) => void;
  readonly log: DeskLog;
}

export function createRetention({ build, limits, onRetained, log }: RetentionOptions) {
  let lastBytes = 0;
  /** Logged once, until it is different again. */
  let isFull = false;
  let isSkewed = false;

  function tell({ clockSkew, isRefused, deleted }: RetentionReport): void {
    const ofSize = deleted.filter(({ reason }) => reason === 'size');
    if (ofSize.length > 0 && !isFull) {
      const rows = Object.fromEntries(ofSize.map(({ table, rows: count }) => [table, count]));
      log.warn({ rows }, FULL.replace('{size}', String(limits.maxBytes / MiB)));
    }
    isFull = ofSize.length > 0;
    if (isRefused && !isSkewed) log.error({ minutesAhead: Math.round(clockSkew / Minute) }, SKEWED);
    isSkewed = isRefused;
  }

  async function run(store: Store): Promise<void> {
    const report = await store.retain({ build, now: Date.now(), ...limits });
    lastBytes = await store.usedBytes();
    tell(report);
    onRetained(report);
  }

  return {
    /** Deletes what is too old and what is too much. */
    run,
    /** The same, if the store has grown since. */
    async runIfGrown(store: Store): Promise<void> {
      if ((await store.usedBytes()) > lastBytes * (1 + SIZE_GROWTH)) await run(store);
    },
  };
}

const FULL =
  'The desk has reached its size limit of {size} MB (DESK_MAX_SIZE), so its oldest rows are deleted. Set it higher, or DESK_RETENTION_DAYS lower, to choose what stays.';

const SKEWED =
  "The clock of this server and that of the desk's store differ by minutes, so nothing old is deleted. Set the clock of this machine, for example with NTP.";
