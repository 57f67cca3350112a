import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import { Second } from '../../shared/units.ts';

/** How often the first process of a container looks for what is left to it (ms). */
const SWEEP_INTERVAL = 2 * Second;

export interface OrphansOptions {
  readonly log: Logger;
  readonly system?: OrphanSystem;
}

/** What it needs of the system, for tests that are not process 1. */
export interface OrphanSystem {
  /** The ended children that nobody has waited for. */
  listEnded(): readonly number[];
  /** Waits for one that has ended, which takes its entry out of the table of processes. */
  collect(pids: readonly number[]): Promise<void>;
}

/**
 * As process 1 of a container: collects the ended children of others, which the system leaves to it.
 * Node waits for its own alone, so that each of the others would stay in the table of processes until
 * that is full. Whatever stands there at two looks in a row is none of Node's own.
 *
 * @returns ends it
 */
export function collectOrphans({ log, system = realSystem }: OrphansOptions): () => void {
  let before: ReadonlySet<number> = new Set();
  const timer = setInterval(() => void sweep(), SWEEP_INTERVAL).unref();

  async function sweep(): Promise<void> {
    try {
      const ended = system.listEnded();
      const orphans = ended.filter((pid) => before.has(pid));
      before = new Set(ended);
      if (orphans.length > 0) await system.collect(orphans);
    } catch (error) {
      clearInterval(timer);
      log.warn(
        { err: error },
        'Ended processes that others left behind cannot be collected. Run the container with an init: docker run --init.',
      );
    }
  }

  return () => clearInterval(timer);
}

const realSystem: OrphanSystem = {
  listEnded() {
    // The system leaves orphans to the first thread.
    const children = readFileSync('/proc/1/task/1/children', 'utf8').split(' ').filter(Boolean);
    return children.map(Number).filter(hasEnded);
  },
  async collect(pids) {
    // Loaded for the first of them: it is experimental, and hardly any container needs it.
    const { dlopen } = await import('node:ffi');
    const { functions, lib } = dlopen(null, { waitpid: { arguments: ['i32', 'pointer', 'i32'], return: 'i32' } });
    for (const pid of pids) functions.waitpid(pid, 0n, DO_NOT_WAIT);
    lib.close();
  },
};

/** `WNOHANG` of Linux. */
const DO_NOT_WAIT = 1;

function hasEnded(pid: number): boolean {
  try {
    // `7 (name) Z 1 …`, and a name may hold anything.
    return readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.startsWith('Z') ?? false;
  } catch {
    return false; // somebody has collected it meanwhile
  }
}
