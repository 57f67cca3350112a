import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openTestDesk } from './desk.ts';

/** A server that leaks memory in one of these ways (HOW) until it crashes. */
const { DATA_DIR = '', HOW = 'heap' } = process.env;
const kept: unknown[] = [];

const ways: Record<string, () => void> = {
  heap() {
    for (let index = 0; index < 1200; index += 1) kept.push({ index, words: [`visitor ${index}`, index / 3] });
  },
  buffers() {
    kept.push(Buffer.alloc(2 * 1024 * 1024, 1));
  },
};

const desk = await openTestDesk({ dataDir: DATA_DIR, dist: fileURLToPath(new URL('../../dist', import.meta.url)) });
await desk.ask('readChanges');
for (;;) {
  ways[HOW]?.();
  await sleep(10);
}
