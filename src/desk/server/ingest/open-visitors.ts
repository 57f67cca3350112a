import { createVisitors, REFRESH_INTERVAL } from '../../../server/reports/visitors.ts';
import { Second } from '../../../shared/units.ts';
import type { DeskCalls } from '../worker/desk-calls.ts';

/** How often the salts are read while the store does not answer (ms). */
const RETRY_INTERVAL = 5 * Second;

/** Uses the salts of the desk's store, and reads them every few seconds if that is due. `refresh` does it now. */
export function openVisitors({ readSalts }: Pick<DeskCalls, 'readSalts'>) {
  const visitors = createVisitors({ readSalts });
  let askedAt = 0;
  function refreshIfDue(): void {
    // Uses the wall clock, because a machine can sleep. `abs`, because the clock can be set back.
    if (Math.abs(Date.now() - askedAt) < REFRESH_INTERVAL) return;
    askedAt = Date.now();
    visitors.refresh().catch(() => {
      askedAt = 0;
    });
  }
  setInterval(refreshIfDue, RETRY_INTERVAL).unref();
  return { toVisitor: visitors.toVisitor, refresh: refreshIfDue };
}
