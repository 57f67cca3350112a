import type { HeapGrowth, HeapUse } from '../beat.ts';
import {
  HEAP_CALM,
  HEAP_FIRST_LOOK,
  HEAP_FLOOR_BEATS,
  HEAP_GROWTH,
  HEAP_LOOK_INTERVAL,
  HEAP_LOOK_PAUSE,
  HEAP_SETTLE_TIME,
  HEAP_SHARE,
  HEAP_STEADY,
} from '../limits.ts';

/** Samples what the main thread allocates, from its making on. */
export interface HeapSampler {
  /** What is alive of it. The main thread collects all its garbage for the answer. */
  read(): Promise<readonly HeapGrowth[]>;
  end(): void;
}

export interface HeapWatch {
  /** To be told with each heartbeat. */
  note(heap: HeapUse): void;
  /** What the heap grew by, the most first; empty where it does not grow suspiciously. */
  readonly grown: readonly HeapGrowth[];
  /** Nothing is sampled after it. */
  end(): void;
}

export interface HeapWatchOptions {
  readonly startSampler: () => HeapSampler;
  /** Told when `grown` is another. */
  readonly onChange: () => void;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
}

interface Sampling {
  readonly sampler: HeapSampler;
  /** What of the heap made it suspicious (bytes). */
  readonly bar: number;
  lookAt: number;
  isLooking: boolean;
  /** What the heap held when it was last seen to have grown (bytes), and the looks since then. */
  held: number;
  steadyLooks: number;
}

/**
 * Samples the heap of the main thread while it grows suspiciously, and never else: what a sampler
 * finds is what was allocated while it ran, which is what a leak goes on doing.
 */
export function createHeapWatch({
  startSampler,
  onChange,
  now = () => performance.now(),
}: HeapWatchOptions): HeapWatch {
  const startedAt = now();
  const recent: number[] = [];
  let settled: number | undefined;
  /** A heap that is large and does not grow has to grow past this (bytes). */
  let raised = 0;
  let sampling: Sampling | undefined;
  let grown: readonly HeapGrowth[] = [];
  let isEnded = false;

  function toBar(limit: number): number {
    const times = settled === undefined ? Number.POSITIVE_INFINITY : settled * HEAP_GROWTH.times + HEAP_GROWTH.more;
    return Math.max(raised, Math.min(limit * HEAP_SHARE, times));
  }

  function begin(bar: number): void {
    const sampler = startSampler();
    sampling = { sampler, bar, lookAt: now() + HEAP_FIRST_LOOK, isLooking: false, held: 0, steadyLooks: 0 };
  }

  function stop(): void {
    sampling?.sampler.end();
    sampling = undefined;
  }

  function tell(found: readonly HeapGrowth[]): void {
    const isSame = found.length === 0 && grown.length === 0;
    grown = found;
    if (!isSame) onChange();
  }

  async function look(of: Sampling): Promise<void> {
    of.isLooking = true;
    const begunAt = now();
    try {
      const found = await of.sampler.read();
      if (sampling !== of) return;
      of.lookAt = now() + toPause(of, now() - begunAt);
      of.isLooking = false;
      // What is garbage is gone now: what the next heartbeats tell is alive.
      recent.length = 0;
      tell(found);
    } catch {
      // The main thread has no inspector for us: nothing can be sampled in this process.
      isEnded = true;
      stop();
    }
  }

  function compare(of: Sampling, floor: number): void {
    const hasGrown = floor > of.held * (1 + HEAP_STEADY.share);
    of.steadyLooks = hasGrown ? 0 : of.steadyLooks + 1;
    if (hasGrown) of.held = floor;
  }

  function goOn(of: Sampling, floor: number): void {
    if (floor < of.bar * HEAP_CALM) {
      stop();
      tell([]);
    } else if (!of.isLooking && now() >= of.lookAt) {
      compare(of, floor);
      if (of.steadyLooks < HEAP_STEADY.looks) void look(of);
      else {
        raised = floor * (1 + HEAP_STEADY.room);
        stop();
      }
    }
  }

  return {
    get grown() {
      return grown;
    },
    note({ used, limit }) {
      if (isEnded) return;
      recent.push(used);
      if (recent.length > HEAP_FLOOR_BEATS) recent.shift();
      const floor = Math.min(...recent);
      if (settled === undefined && now() - startedAt >= HEAP_SETTLE_TIME) settled = floor;
      const bar = toBar(limit);
      if (sampling) goOn(sampling, floor);
      else if (recent.length === HEAP_FLOOR_BEATS && floor > bar) begin(bar);
    },
    end() {
      isEnded = true;
      stop();
    },
  };
}

/** @param took the last look (ms) */
function toPause({ steadyLooks }: Sampling, took: number): number {
  const steady = Math.min(HEAP_STEADY.longest, HEAP_LOOK_INTERVAL * 2 ** steadyLooks);
  return Math.max(steady, HEAP_LOOK_PAUSE * took);
}
