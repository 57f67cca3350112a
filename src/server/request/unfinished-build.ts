import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Millisecond, Minute, Second } from '../../shared/units.ts';

// After a change, `npm start` starts the server before maps, the table of locations and compressed files are written. Until
// then, the file `.unfinished` has the id of the process that writes them (`build/output.mjs`).

const PAUSE = 20 * Millisecond;
/** The longest that a request waits for the table of locations (ms). */
const MAX_BUILD_WAIT = 5 * Second;
/** No build takes longer (ms). Later, its id can belong to another process. */
const MAX_BUILD_TIME = 5 * Minute;

/** Whether a process is still writing the build in this folder. */
export function isUnfinished(dist: string): boolean {
  const file = join(dist, '.unfinished');
  try {
    if (Date.now() - statSync(file).mtimeMs > MAX_BUILD_TIME) return false;
    process.kill(Number(readFileSync(file, 'utf8')), 0); // throws if it has ended
    return true;
  } catch {
    return false;
  }
}

/** Waits until the build in this folder is complete, or has failed. */
export async function untilBuilt(dist: string): Promise<void> {
  while (isUnfinished(dist)) await sleep(PAUSE);
}

/** The same, for at most 5 seconds, in which this thread does nothing else. */
export function waitUntilBuilt(dist: string): void {
  const never = new Int32Array(new SharedArrayBuffer(4));
  for (let waited = 0; waited < MAX_BUILD_WAIT && isUnfinished(dist); waited += PAUSE) Atomics.wait(never, 0, 0, PAUSE);
}
