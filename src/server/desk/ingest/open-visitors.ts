import { Second } from '../../../shared/units.ts';
import { createVisitors, REFRESH_INTERVAL } from '../../reports/tunnel/visitors.ts';
import type { Desk } from '../desk.ts';

/** How often the salts are read while the store does not answer (ms). */
const RETRY_INTERVAL = 5 * Second;

/** Uses the salts of the desk's store, and reads them every few seconds if that is due. `refresh` does it at once. */
export function openVisitors(desk: Pick<Desk, 'ask' | 'journalSalt'>) {
  const visitors = createVisitors({
    readSalts: (offers) => desk.ask('readSalts', offers),
    keepSalt: (salt) => desk.journalSalt(salt),
  });
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
  return { ...visitors, refresh: refreshIfDue };
}
