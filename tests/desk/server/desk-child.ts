import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { InFlight } from '../../../src/server/front/in-flight.ts';
import { toAddress } from '../../../src/shared/reporting/address.ts';
import { recordRequest } from '../../support/in-flight.ts';
import { createFailure, openTestDesk } from '../support/desk.ts';

/**
 * A server that fails continuously, for tests that kill it. It writes only the address of each failure to standard
 * output, after the failure is journaled.
 *
 * DATA_DIR, DESK_DATABASE_URL; DIGESTS: how many different ones.
 */
const { DATA_DIR = '', DESK_DATABASE_URL, DIGESTS = '1' } = process.env;
/** Failures per second. */
const RATE = 2000;
const inFlight = new InFlight();
recordRequest(inFlight, '/orders/7');
const desk = await openTestDesk({
  dataDir: DATA_DIR,
  databaseUrl: DESK_DATABASE_URL,
  inFlight: inFlight.shared,
});

/** Limits how many failures are journaled but not yet printed, even after a delay. Tests use it to detect losses. */
const MAX_UNSHOWN = 50;

const started = performance.now();
let made = 0;
for (;;) {
  const wanted = ((performance.now() - started) / 1000) * RATE;
  let addresses = '';
  const shownAt = made;
  while (made < wanted && made - shownAt < MAX_UNSHOWN) {
    const failure = createFailure({ digest: `0000000${made % Number(DIGESTS)}` });
    if (!desk.journal(failure)) process.exit(2);
    addresses += `${toAddress(failure)}\n`;
    made += 1;
  }
  if (addresses) writeSync(1, addresses);
  await sleep(5);
}
