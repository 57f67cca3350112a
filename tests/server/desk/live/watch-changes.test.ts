import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createChangeWatch } from '../../../../src/server/desk/live/watch-changes.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function setUp() {
  let changes = 1;
  const read = vi.fn(async () => changes);
  const watch = createChangeWatch({ read, interval: 1000 });
  return {
    read,
    watch,
    change() {
      changes += 1;
    },
  };
}

it('asks for nothing while nobody listens, and again once somebody does', async () => {
  const { read, watch } = setUp();
  await vi.advanceTimersByTimeAsync(5000);
  expect(read).not.toHaveBeenCalled();
  const stop = watch.listen(() => {});
  await vi.advanceTimersByTimeAsync(3500);
  expect(read).toHaveBeenCalledTimes(4);
  stop();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(read).toHaveBeenCalledTimes(5);
  watch.listen(() => {});
  await vi.advanceTimersByTimeAsync(500);
  expect(read).toHaveBeenCalledTimes(6);
});

it('asks once for all who listen, and tells each of them', async () => {
  const { read, watch, change } = setUp();
  const heard = [vi.fn(), vi.fn(), vi.fn()];
  for (const listener of heard) watch.listen(listener);
  await vi.advanceTimersByTimeAsync(500);
  change();
  await vi.advanceTimersByTimeAsync(1000);
  for (const listener of heard) expect(listener).toHaveBeenCalledTimes(1);
  expect(read).toHaveBeenCalledTimes(2);
});

it('tells of a storm once an interval', async () => {
  const { watch, change } = setUp();
  const listener = vi.fn();
  watch.listen(listener);
  for (let tenths = 0; tenths < 100; tenths++) {
    change();
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(listener.mock.calls.length).toBeGreaterThan(8);
  expect(listener.mock.calls.length).toBeLessThanOrEqual(10);
});

it('goes on when the store is away for a time, and tells of what came meanwhile', async () => {
  const { read, watch, change } = setUp();
  const listener = vi.fn();
  watch.listen(listener);
  await vi.advanceTimersByTimeAsync(500);
  read.mockRejectedValueOnce(new Error('away')).mockRejectedValueOnce(new Error('away'));
  change();
  await vi.advanceTimersByTimeAsync(2000);
  expect(listener).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1000);
  expect(listener).toHaveBeenCalledTimes(1);
});
