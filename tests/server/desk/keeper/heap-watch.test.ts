import { describe, expect, it } from 'vitest';
import type { HeapGrowth } from '../../../../src/server/desk/beat.ts';
import { createHeapWatch } from '../../../../src/server/desk/keeper/heap-watch.ts';
import {
  BEAT_INTERVAL,
  HEAP_FIRST_LOOK,
  HEAP_FLOOR_BEATS,
  HEAP_LOOK_INTERVAL,
  HEAP_LOOK_PAUSE,
  HEAP_SETTLE_TIME,
  HEAP_STEADY,
} from '../../../../src/server/desk/limits.ts';
import { Hour, MiB } from '../../../../src/shared/units.ts';

const GiB = 1024 * MiB;

function setUp({ took = 0, found = [{ bytes: 9 * MiB, frames: [] }] as HeapGrowth[], limit = 1000 * MiB } = {}) {
  const clock = { now: 0 };
  const seen = { started: 0, ended: 0, looks: [] as number[], changes: 0 };
  const watch = createHeapWatch({
    startSampler() {
      seen.started += 1;
      return {
        async read() {
          seen.looks.push(clock.now);
          clock.now += took;
          return found;
        },
        end() {
          seen.ended += 1;
        },
      };
    },
    onChange() {
      seen.changes += 1;
    },
    now: () => clock.now,
  });
  /** Heartbeats of a heap that holds so much, for a while. */
  const beat = async (used: (index: number) => number, ms: number) => {
    for (let index = 0; index * BEAT_INTERVAL < ms; index += 1) {
      clock.now += BEAT_INTERVAL;
      watch.note({ used: used(index), limit });
      await Promise.resolve();
      await Promise.resolve();
    }
  };
  return { watch, seen, beat };
}

describe('the watch of the heap', () => {
  it('samples nothing of a heap that is well below its limit and does not grow', async () => {
    const { watch, seen, beat } = setUp();
    await beat((index) => (100 + (index % 8) * 30) * MiB, Hour);
    watch.end();
    expect(seen).toMatchObject({ started: 0, ended: 0 });
  });

  it('samples nothing for a peak that is garbage a moment later', async () => {
    const { seen, beat } = setUp();
    await beat((index) => (index % HEAP_FLOOR_BEATS === 0 ? 100 : 900) * MiB, Hour);
    expect(seen.started).toBe(0);
  });

  it('samples one that fills its limit, within the first minute too', async () => {
    const { watch, seen, beat } = setUp();
    await beat(() => 500 * MiB, HEAP_FLOOR_BEATS * BEAT_INTERVAL);
    expect(seen).toMatchObject({ started: 1, looks: [] });
    await beat(() => 510 * MiB, HEAP_FIRST_LOOK);
    expect(seen.looks).toHaveLength(1);
    expect(seen.changes).toBe(1);
    expect(watch.grown).toEqual([{ bytes: 9 * MiB, frames: [] }]);
  });

  it('samples one that is many times what it settled at', async () => {
    const { seen, beat } = setUp({ limit: 8 * GiB });
    await beat(() => 50 * MiB, 2 * HEAP_SETTLE_TIME);
    await beat(() => 260 * MiB, HEAP_SETTLE_TIME);
    expect(seen.started).toBe(0);
    await beat(() => 270 * MiB, HEAP_FLOOR_BEATS * BEAT_INTERVAL);
    expect(seen.started).toBe(1);
  });

  it('looks the more seldom the longer a look takes', async () => {
    const growing = (index: number) => (500 + index * 20) * MiB;
    const quick = setUp();
    await quick.beat(growing, 120 * BEAT_INTERVAL);
    const slow = setUp({ took: 2 * BEAT_INTERVAL });
    await slow.beat(growing, 600 * BEAT_INTERVAL);
    const gap = (looks: readonly number[]) => (looks[2] ?? 0) - (looks[1] ?? 0);
    expect(gap(quick.seen.looks)).toBe(HEAP_LOOK_INTERVAL);
    expect(gap(slow.seen.looks)).toBeGreaterThan(HEAP_LOOK_PAUSE * 2 * BEAT_INTERVAL);
  });

  it('ends when the heap is calm again, and forgets what it found', async () => {
    const { watch, seen, beat } = setUp();
    await beat(() => 500 * MiB, 20 * BEAT_INTERVAL);
    await beat(() => 100 * MiB, HEAP_FLOOR_BEATS * BEAT_INTERVAL);
    expect(seen).toMatchObject({ started: 1, ended: 1, changes: expect.any(Number) });
    expect(watch.grown).toEqual([]);
  });

  it('looks ever more seldom at a heap that is large and does not grow, and leaves it in the end', async () => {
    const { seen, beat } = setUp();
    await beat(() => 500 * MiB, Hour);
    expect(seen).toMatchObject({ started: 1, ended: 0 });
    await beat(() => 500 * MiB, Hour);
    expect(seen).toMatchObject({ started: 1, ended: 1 });
    expect(seen.looks).toHaveLength(HEAP_STEADY.looks);
    await beat(() => 540 * MiB, Hour);
    expect(seen.started).toBe(1);
    await beat(() => 560 * MiB, HEAP_FLOOR_BEATS * BEAT_INTERVAL);
    expect(seen.started).toBe(2);
  });

  it('goes on with one that grows slowly', async () => {
    const { seen, beat } = setUp({ limit: 2 * GiB });
    await beat((index) => (900 + index / 120) * MiB, 4 * Hour);
    expect(seen).toMatchObject({ started: 1, ended: 0 });
    expect(seen.looks.length).toBeLessThan(100);
  });

  it('leaves the main thread alone at the end, and where it has no inspector', async () => {
    const { watch, seen, beat } = setUp();
    await beat(() => 500 * MiB, HEAP_FLOOR_BEATS * BEAT_INTERVAL);
    watch.end();
    expect(seen).toMatchObject({ started: 1, ended: 1 });
    await beat(() => 900 * MiB, HEAP_SETTLE_TIME);
    expect(seen).toMatchObject({ started: 1, ended: 1, looks: [] });

    let started = 0;
    const broken = createHeapWatch({
      startSampler: () => {
        started += 1;
        return { read: () => Promise.reject(new Error('no inspector')), end: () => undefined };
      },
      onChange: () => undefined,
      now: () => 0,
    });
    for (let index = 0; index < 50; index += 1) {
      broken.note({ used: 900 * MiB, limit: GiB });
      await Promise.resolve();
    }
    expect(started).toBe(1);
  });
});
