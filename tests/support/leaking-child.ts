import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openTestDesk } from './desk.ts';

/**
 * A server that keeps what it should let go of, in one of these ways (HOW), until it dies of it, is
 * told to end, or FOR milliseconds are over. EACH things are kept every 10 ms, and a fortieth of that once there are
 * AT_ONCE. LEAVE=at-once has it exit without closing its desk.
 */
const { DATA_DIR = '', HOW = 'heap', FOR = '60000', EACH = '300', AT_ONCE = 'Infinity', LEAVE } = process.env;
const kept: unknown[] = [];

const ways: Record<string, () => void> = {
  heap: function rememberForEver() {
    const count = Number(EACH) / (kept.length < Number(AT_ONCE) ? 1 : 40);
    for (let index = 0; index < count; index += 1) kept.push({ index, words: [`visitor ${index}`, index / 3] });
  },
  buffers: function keepBuffers() {
    kept.push(Buffer.alloc(2 * 1024 * 1024, 1));
  },
  garbage: function forgetAtOnce() {
    for (let index = 0; index < 4000; index += 1) void { index, words: [`visitor ${index}`, index / 3] };
  },
};

const desk = await openTestDesk({ dataDir: DATA_DIR, dist: fileURLToPath(new URL('../../dist', import.meta.url)) });
await desk.ask('readChanges');
let end = performance.now() + Number(FOR);
process.once('SIGTERM', () => {
  end = 0;
});
while (performance.now() < end) {
  ways[HOW]?.();
  await sleep(10);
}
if (LEAVE === 'at-once') process.exit();
await desk.close();
process.stdout.write('closed');
