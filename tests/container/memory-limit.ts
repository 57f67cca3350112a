import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A group of processes with a common memory limit. */
export interface MemoryLimit {
  readonly version: 1 | 2;
  /** A process joins by writing 0 to `cgroup.procs` in this folder. */
  readonly folder: string;
  /** How often the kernel has killed one of the processes. */
  kills(): number;
  remove(): void;
}

const ONE = '/sys/fs/cgroup/memory';
const TWO = '/sys/fs/cgroup';

/** @returns undefined if this machine does not allow it */
export function createMemoryLimit(bytes: number): MemoryLimit | undefined {
  const name = `spillway-${randomBytes(4).toString('hex')}`;
  try {
    if (existsSync(join(ONE, 'memory.limit_in_bytes'))) return createFirst(join(ONE, name), bytes);
    if (existsSync(join(TWO, 'cgroup.controllers'))) return createSecond(join(TWO, name), bytes);
  } catch {
    // Not permitted, usually because this machine is a container itself.
  }
  return undefined;
}

function createFirst(folder: string, bytes: number): MemoryLimit {
  mkdirSync(folder);
  writeFileSync(join(folder, 'memory.limit_in_bytes'), String(bytes));
  return {
    version: 1,
    folder,
    kills: () => Number(/oom_kill (\d+)/.exec(readFileSync(join(folder, 'memory.oom_control'), 'utf8'))?.[1]),
    remove: () => removeQuietly(folder),
  };
}

function createSecond(folder: string, bytes: number): MemoryLimit {
  writeFileSync(join(TWO, 'cgroup.subtree_control'), '+memory');
  mkdirSync(folder);
  writeFileSync(join(folder, 'memory.max'), String(bytes));
  if (existsSync(join(folder, 'memory.swap.max'))) writeFileSync(join(folder, 'memory.swap.max'), '0');
  return {
    version: 2,
    folder,
    kills: () => Number(/oom_kill (\d+)/.exec(readFileSync(join(folder, 'memory.events'), 'utf8'))?.[1]),
    remove: () => removeQuietly(folder),
  };
}

/** Leaves the folder if it cannot be removed: an empty group is harmless. */
function removeQuietly(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // The kernel has not yet released its last process.
  }
}
