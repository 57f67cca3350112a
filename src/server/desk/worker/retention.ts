import { MiB, Minute } from '../../../shared/units.ts';
import type { DeskLog } from '../desk-log.ts';
import { SIZE_GROWTH } from '../limits.ts';
import type { DeskRetention } from '../settings.ts';
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
  /** Whether the current state is already logged. */
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
    /** Deletes old rows, and the oldest rows of a store that is too large. */
    run,
    /** Runs if the store has grown since the last run. */
    async runIfGrown(store: Store): Promise<void> {
      if ((await store.usedBytes()) > lastBytes * (1 + SIZE_GROWTH)) await run(store);
    },
  };
}

const FULL =
  'The desk has reached its size limit of {size} MB (DESK_MAX_SIZE), so its oldest rows are deleted. To control what stays, raise DESK_MAX_SIZE or lower DESK_RETENTION_DAYS.';

const SKEWED =
  "The clocks of this server and the desk's store differ by minutes, so no old rows are deleted. Synchronize this machine's clock, for example with NTP.";
