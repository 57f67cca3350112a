import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { MiB } from '../../src/shared/units.ts';

/** Linux's file system in memory. In a container it often has only 64 MB. */
const MEMORY = '/dev/shm';
/** Free memory that is required (bytes). A full run uses about 1 GB. */
const ENOUGH = 6 * 1024 * MiB;
const PREFIX = 'spillway-tests-';

/**
 * Keeps the temporary files of tests in one folder, and removes it at the end. It is in memory if there is enough, because
 * files on the disk cost a tenth of the run. If `TMPDIR` is set, it is there.
 */
export default function keepTemporaryFiles(): (() => void) | undefined {
  const { TMPDIR } = process.env;
  if (TMPDIR && basename(TMPDIR).startsWith(PREFIX)) return undefined; // another project's set-up was first
  const parent = TMPDIR || !hasEnough() ? tmpdir() : MEMORY;
  removeAbandoned(parent);
  const folder = mkdtempSync(join(parent, `${PREFIX}${process.pid}-`));
  chmodSync(folder, 0o1777); // like /tmp: PostgreSQL and containers run as other users
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

function hasEnough(): boolean {
  if (process.platform !== 'linux' || process.availableMemory() < ENOUGH) return false;
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
    const options = mounts.map((line) => line.split(' ')).findLast(([, folder]) => folder === MEMORY)?.[3];
    // Some tests run programs from there.
    return bavail * bsize >= ENOUGH && options?.split(',').includes('noexec') === false;
  } catch {
    return false;
  }
}

/** Removes the folders of runs that were killed. */
function removeAbandoned(parent: string): void {
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(PREFIX) || isRunning(Number.parseInt(name.slice(PREFIX.length), 10))) continue;
    try {
      rmSync(join(parent, name), { recursive: true, force: true });
    } catch {
      // It belongs to another user.
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
