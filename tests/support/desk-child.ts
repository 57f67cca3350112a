import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { toAddress } from '../../src/server/engine/errors/failure.ts';
import { createFailure, openTestDesk } from './desk.ts';

/**
 * A server that fails all the time, for tests that kill it. It writes each address to standard output
 * once it is stored, and nothing else.
 *
 * DATA_DIR, DESK_DATABASE_URL; RATE failures a second; DIGESTS different ones; FOR milliseconds.
 */
const { DATA_DIR = '', DESK_DATABASE_URL, RATE = '2000', DIGESTS = '1', FOR = '60000' } = process.env;
const desk = await openTestDesk({
  dataDir: DATA_DIR,
  databaseUrl: DESK_DATABASE_URL,
  inFlight: () => [{ requestId: 'request-1', method: 'GET', route: '/orders/:id', ms: 17 }],
});

/** However long it was held up: what is stored and not shown yet is told from what was lost by its number. */
const MAX_UNSHOWN = 50;

const started = performance.now();
let made = 0;
while (performance.now() - started < Number(FOR)) {
  const wanted = ((performance.now() - started) / 1000) * Number(RATE);
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
await desk.close();
