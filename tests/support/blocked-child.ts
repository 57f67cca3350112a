import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BlockedLoop } from '../../src/server/desk/worker/watchdog.ts';
import { openTestDesk } from './desk.ts';

/** A server whose event loop is blocked in one of these ways (HOW). Prints what its desk reports about it. */
const ways: Record<string, () => unknown> = {
  loop: function spinInALoop() {
    const end = Date.now() + 2500;
    while (Date.now() < end);
  },
  regexp: function matchForEver() {
    const end = Date.now() + 2500;
    while (Date.now() < end) /^(a+)+$/.test(`${'a'.repeat(24)}b`);
  },
  native: function callAnotherProgram() {
    execFileSync('sleep', ['2.5']);
  },
  forEver: function neverComeBack() {
    for (;;);
  },
};

const { DATA_DIR = '', HOW = 'loop' } = process.env;
const reports: BlockedLoop[] = [];
const desk = await openTestDesk({ dataDir: DATA_DIR, onBlockedLoop: (report) => void reports.push(report) });
await desk.calls.readChanges();
await sleep(500);
if (HOW === 'forEver') process.stdout.write('standing still\n');
ways[HOW]?.();
while (reports.length === 0 && HOW !== 'nothing') await sleep(20);
await sleep(500);
process.stdout.write(JSON.stringify(reports));
await desk.close();
