import { setTimeout as sleep } from 'node:timers/promises';
import type { BlockedLoop } from '../../../../src/server/desk/worker/watchdog.ts';
import { openTestDesk } from '../../../support/desk.ts';

/** A server whose event loop is blocked, for seconds or for ever (HOW). Prints what its desk reports about it. */
const { DATA_DIR = '', HOW = 'loop' } = process.env;
const reports: BlockedLoop[] = [];
const desk = await openTestDesk({ dataDir: DATA_DIR, onBlockedLoop: (report) => void reports.push(report) });
await desk.calls.readChanges();
await sleep(500);
if (HOW === 'forEver') process.stdout.write('standing still\n');
const end = HOW === 'forEver' ? Number.POSITIVE_INFINITY : Date.now() + 2500;
while (Date.now() < end);
while (reports.length === 0) await sleep(20);
await sleep(500);
process.stdout.write(JSON.stringify(reports));
await desk.close();
