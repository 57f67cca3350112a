import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Millisecond, Minute } from '../../shared/units.ts';

// After a change, `npm start` starts the server before maps and compressed files are written. Until then, the file
// `.unfinished` has the id of the process that writes them (`build/output.mjs`).

const PAUSE = 20 * Millisecond;
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
