import { describe, expect, it } from 'vitest';
import { BEAT_INTERVAL, MEMORY_POINTS } from '../../../../../src/server/desk/limits.ts';
import { createMemoryHistory } from '../../../../../src/server/desk/worker/processes/memory-history.ts';

function setUp() {
  const clock = { now: 5000 };
  const history = createMemoryHistory({ now: () => clock.now });
  const add = (memory: number, after = BEAT_INTERVAL) => {
    clock.now += after;
    return history.add(memory, memory / 2);
  };
  return { history, add };
}

describe('the memory history', () => {
  it('is undefined before the first heartbeat, then contains each one', () => {
    const { history, add } = setUp();
    expect(history.tell()).toBeUndefined();
    expect([add(10), add(20)]).toEqual([true, true]);
    expect(history.tell()).toMatchObject({
      step: BEAT_INTERVAL,
      points: [
        [10, 5],
        [20, 10],
      ],
    });
  });

  it('is halved when it is full, and keeps the maxima', () => {
    const { history, add } = setUp();
    for (let beat = 0; beat < MEMORY_POINTS; beat += 1) add(beat % 2 === 0 ? 100 : beat);
    expect(history.tell()?.points).toHaveLength(MEMORY_POINTS);
    add(7);
    expect(history.tell()).toMatchObject({ step: 2 * BEAT_INTERVAL });
    expect(history.tell()?.points).toEqual([...new Array(MEMORY_POINTS / 2).fill([100, 50]), [7, 3.5]]);
  });

  it('changes once per step, and keeps the maximum of the step', () => {
    const { history, add } = setUp();
    for (let beat = 0; beat <= MEMORY_POINTS; beat += 1) add(1);
    expect([add(9), add(2), add(5), add(4)]).toEqual([false, true, false, true]);
    expect(history.tell()?.points.slice(-3)).toEqual([
      [9, 4.5],
      [5, 2.5],
      [4, 2],
    ]);
  });

  it('has a bounded length after a month, and fills gaps', () => {
    const { history, add } = setUp();
    add(10);
    add(30, 10 * BEAT_INTERVAL);
    expect(history.tell()?.points).toHaveLength(11);
    expect(history.tell()?.points[9]).toEqual([10, 5]);
    add(20, 30 * 24 * 3600 * 1000);
    const { points = [], step = 0 } = history.tell() ?? {};
    expect(points.length).toBeLessThanOrEqual(MEMORY_POINTS);
    expect(points.length).toBeGreaterThan(MEMORY_POINTS / 2);
    expect(points.length * step).toBeGreaterThanOrEqual(30 * 24 * 3600 * 1000);
    expect(points[0]).toEqual([30, 15]);
    expect(points.at(-1)?.[0]).toBe(20);
  });
});
