import { setTimeout as sleep } from 'node:timers/promises';
import type { InFlightRequest } from '#engine/tracker';
import { openTestDesk } from '../../support/desk.ts';

/** A server that prints a line, and then receives a request that blocks its event loop for ever. */
const inFlight: InFlightRequest[] = [];
const desk = await openTestDesk({ dataDir: process.env.DATA_DIR ?? '', inFlight: () => inFlight });
await desk.calls.readChanges();
await sleep(500);
process.stdout.write('standing still\n');
inFlight.push({ requestId: 'r1', method: 'GET', route: '/heavy', ms: 0 });
for (;;);
