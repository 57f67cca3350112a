import { setTimeout as sleep } from 'node:timers/promises';
import { InFlight } from '../../../../src/server/front/in-flight.ts';
import { recordRequest } from '../../../support/in-flight.ts';
import { openTestDesk } from '../../support/desk.ts';

/** A server that prints a line, and then receives a request that blocks its event loop for ever. */
const inFlight = new InFlight();
const desk = await openTestDesk({ dataDir: process.env.DATA_DIR ?? '', inFlight: inFlight.shared });
await desk.calls.readChanges();
await sleep(500);
process.stdout.write('standing still\n');
recordRequest(inFlight, '/heavy');
for (;;);
