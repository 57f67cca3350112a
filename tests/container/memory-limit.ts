import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A group of processes that may use so much memory together. */
export interface MemoryLimit {
  readonly version: 1 | 2;
  /** Where a process writes 0 to join. */
  readonly folder: string;
  /** Times that the system had to kill one of them (a count). */
  kills(): number;
  remove(): void;
}

const ONE = '/sys/fs/cgroup/memory';
const TWO = '/sys/fs/cgroup';

/** @returns undefined where this machine lets nobody make one */
export function createMemoryLimit(bytes: number): MemoryLimit | undefined {
  const name = `spillway-${randomBytes(4).toString('hex')}`;
  try {
    if (existsSync(join(ONE, 'memory.limit_in_bytes'))) return createFirst(join(ONE, name), bytes);
    if (existsSync(join(TWO, 'cgroup.controllers'))) return createSecond(join(TWO, name), bytes);
  } catch {
    // Not ours to make: a container of somebody else's, mostly.
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

/** An empty one that is left does no harm. */
function removeQuietly(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // The system has not let go of its last process yet.
  }
}
