import { setTimeout as sleep } from 'node:timers/promises';
import { openTestDesk } from '../../support/desk.ts';

/** A server whose event loop is blocked for ever, shortly after it prints a line. */
const desk = await openTestDesk({ dataDir: process.env.DATA_DIR ?? '' });
await desk.calls.readChanges();
await sleep(500);
process.stdout.write('standing still\n');
for (;;);
